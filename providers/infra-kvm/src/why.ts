import { sentence, type WhyRules } from "@capstan/capi";
import { FAULTS } from "./machine/cures.ts";

/** What `why` knows about virtual machines. */
export const kvmWhy: WhyRules = {
  capacityCure:
    "delete machines of this host, lower resources.memory in a new template, or raise memoryMiB of the host",
  isFault: ({ kind, reason }) => kind.startsWith("KVM") && FAULTS.has(reason),
  remedies: [
    {
      matches: ({ kind, reason }) =>
        kind === "KVMMachine" && (reason === "CrashLoop" || reason === "GuestPanicked" || reason === "Terminated"),
      remedy: ({ cause }, { machine, flags }) => ({
        cause: `Virtual machine ${cause.name} does not run any more${sentence(cause.message, ": ")}`,
        steps: [
          "correct what the message says: the image, its kernel or the host",
          `have it replaced: kubectl delete machine ${machine ?? cause.name}${flags}, or let a MachineHealthCheck do it`,
        ],
      }),
    },
  ],
};
