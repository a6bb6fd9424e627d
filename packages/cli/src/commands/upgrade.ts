import type { CommandDefinition } from "../command.ts";
import { API_OPTIONS, CLUSTER_ARGUMENT, CLUSTER_OPTIONS, NAMESPACE_OPTION } from "../options.ts";
import { WAIT_OPTIONS } from "./create-cluster.ts";

/** Defines `capstan upgrade plan`, which shows which Kubernetes versions clusters run and can be upgraded to. */
export const upgradePlan: CommandDefinition = {
  name: "upgrade plan",
  summary: "Show the Kubernetes versions of clusters and the versions they can be upgraded to",
  arguments: [{ ...CLUSTER_ARGUMENT, summary: "Only this cluster", required: false }],
  options: [NAMESPACE_OPTION, { flags: "-A, --all-namespaces", summary: "Clusters of all namespaces" }, ...API_OPTIONS],
  examples: [{ command: "capstan upgrade plan -A", does: "every cluster with what it can be upgraded to" }],
  run: async (input) => (await import("./upgrade.run.ts")).runUpgradePlan(input),
};

/** Defines `capstan upgrade apply`, which upgrades a cluster to another Kubernetes version. */
export const upgradeApply: CommandDefinition = {
  name: "upgrade apply",
  summary: "Upgrade a cluster to another Kubernetes version: first its control plane, then its workers",
  details:
    "At most one minor version up, and never down. If interrupted, the current step continues; run the same command to continue with the rest.",
  arguments: [CLUSTER_ARGUMENT],
  options: [
    { flags: "--to <version>", summary: "The version, e.g. v1.37.1" },
    { flags: "--control-plane-only", summary: "Leave the workers as they are" },
    ...WAIT_OPTIONS,
    ...CLUSTER_OPTIONS,
  ],
  examples: [
    { command: "capstan upgrade apply demo --to v1.37.1", does: "control plane, then workers, group by group" },
  ],
  run: async (input) => (await import("./upgrade.run.ts")).runUpgradeApply(input),
};
