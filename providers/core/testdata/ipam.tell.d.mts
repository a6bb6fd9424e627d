import type { Client } from "@capstan/runtime";
import type { Story } from "./ipam.stories.mjs";

/** What could be seen after one step. */
export interface Seen {
  code: number;
  /** Of a refusal. */
  reason?: string;
  fields?: string[];
  /** Of an acceptance: the pools, claims and addresses there are. */
  shown?: Record<string, unknown>;
}

export declare function tell(
  client: Client,
  story: Story,
  where: { namespace: string; settle: () => Promise<void> },
): Promise<Seen[]>;
