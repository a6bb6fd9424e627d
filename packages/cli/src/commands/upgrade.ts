import type { CommandDefinition } from "../command.ts";
import { API_OPTIONS, CLUSTER_ARGUMENT, CLUSTER_OPTIONS, NAMESPACE_OPTION } from "../options.ts";
import { WAIT_OPTIONS } from "./create-cluster.ts";

/** Defines `capstan upgrade plan`, which shows which Kubernetes versions clusters run and can be upgraded to. */
export const upgradePlan: CommandDefinition = {
  name: "upgrade plan",
  summary: "Show which Kubernetes version clusters run and where they can go",
  arguments: [{ ...CLUSTER_ARGUMENT, summary: "Only this cluster", required: false }],
  options: [NAMESPACE_OPTION, { flags: "-A, --all-namespaces", summary: "Clusters of all namespaces" }, ...API_OPTIONS],
  examples: [{ command: "capstan upgrade plan -A", does: "every cluster with what it can be upgraded to" }],
  run: async (input) => (await import("./upgrade.run.ts")).runUpgradePlan(input),
};

/** Defines `capstan upgrade apply`, which upgrades a cluster to another Kubernetes version. */
export const upgradeApply: CommandDefinition = {
  name: "upgrade apply",
  summary: "Bring a cluster to another Kubernetes version: first its control plane, then its workers",
  details:
    "At most one minor up and never down. Interrupted, the step that was begun goes on by itself; the same command goes on with the rest.",
  arguments: [CLUSTER_ARGUMENT],
  options: [
    { flags: "--to <version>", summary: "The version, e.g. v1.35.4" },
    { flags: "--control-plane-only", summary: "Leave the workers as they are" },
    ...WAIT_OPTIONS,
    ...CLUSTER_OPTIONS,
  ],
  examples: [
    { command: "capstan upgrade apply demo --to v1.35.4", does: "control plane, then workers, group by group" },
  ],
  run: async (input) => (await import("./upgrade.run.ts")).runUpgradeApply(input),
};
