import type { ProcessWorkloads } from "@capstan/workloads";

/** What the placement needs of the supervisor of local processes. */
export type LocalWorkloads = Pick<
  ProcessWorkloads,
  "ensure" | "matches" | "remove" | "stop" | "list" | "removeOwner" | "subscribe"
>;
