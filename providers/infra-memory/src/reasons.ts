import type { ReasonCatalogue } from "@capstan/capi";

/** Reasons of the conditions of machines in memory. */
export const MEMORY_REASONS: ReasonCatalogue = {
  Booting: { meaning: "The machine boots for a while, as a real one would." },
  JoinFailed: {
    meaning: "The machine runs but could not join its cluster; it retries.",
    cure: "Look at the control plane and at the bootstrap data.",
  },
  NeverBoots: { meaning: "The fault NeverBoots is set on the machine.", cure: "Remove the fault." },
  WaitingForWorkloadCluster: { meaning: "After a restart the machine waits for a connection to its cluster." },
};
