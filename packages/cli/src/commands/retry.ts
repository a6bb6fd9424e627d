import type { CommandDefinition } from "../command.ts";
import { API_OPTIONS, NAMESPACE_OPTION } from "../options.ts";

/** Defines `capstan retry workerpool`, which lets a WorkerPool place machines on members that are cooling down. */
export const retryWorkerPool: CommandDefinition = {
  name: "retry workerpool",
  summary: "End the cool-down of a WorkerPool's members after a failure",
  details:
    "A member that failed gets no new machines until its cool-down is over (spec.overflow.returnAfterSeconds). Use this after you have fixed the cause. Capacity that becomes free is used without this command.",
  arguments: [{ name: "name", summary: "Name of the WorkerPool" }],
  options: [NAMESPACE_OPTION, ...API_OPTIONS],
  examples: [{ command: "capstan retry workerpool general", does: "end the cool-down of its members" }],
  run: async (input) => (await import("./retry.run.ts")).runRetryWorkerPool(input),
};
