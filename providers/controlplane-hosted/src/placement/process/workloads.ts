import type { ProcessWorkloads } from "@capstan/workloads";

/** The part of the process supervisor that the placement uses. */
export type LocalWorkloads = Pick<
  ProcessWorkloads,
  "ensure" | "matches" | "remove" | "stop" | "list" | "removeOwner" | "subscribe"
>;
