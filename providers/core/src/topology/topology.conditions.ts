import type { ConditionInput } from "@capstan/capi";
import type { VersionPlan } from "./versions.ts";

/** The result of one reconcile of a topology. */
export type TopologyOutcome =
  | { state: "paused"; message: string }
  | { state: "deleting" }
  | { state: "problem"; reason: string; message: string }
  | { state: "done"; wanted: string; controlPlaneKind: string; versions: VersionPlan };

const MAX_NAMES = 3;

/** Computes TopologyReconciled: whether all objects match the topology, or what is still pending. */
export function topologyReconciled(outcome: TopologyOutcome): ConditionInput {
  const type = "TopologyReconciled";
  switch (outcome.state) {
    case "paused":
      return { type, status: "False", reason: "Paused", message: outcome.message };
    case "deleting":
      return { type, status: "False", reason: "Deleting", message: "Cluster is deleting" };
    case "problem":
      return { type, status: "False", reason: outcome.reason, message: outcome.message };
    case "done": {
      const lines = progress(outcome);
      if (lines.length === 0) return { type, status: "True", reason: "ReconcileSucceeded", message: "" };
      const message = [`Cluster is upgrading to ${outcome.wanted}`, ...lines.map((line) => `  * ${line}`)].join("\n");
      return { type, status: "False", reason: reasonOf(outcome.versions), message };
    }
  }
}

function progress({ wanted, controlPlaneKind, versions }: Extract<TopologyOutcome, { state: "done" }>): string[] {
  const lines: string[] = [];
  const { controlPlane, upgrading, pending, deferred, pendingCreate } = versions;
  const step = controlPlane === wanted ? "" : ` (${wanted} pending)`;
  if (versions.controlPlaneUpgrading) lines.push(`${controlPlaneKind} upgrading to version ${controlPlane}${step}`);
  else if (versions.controlPlanePending) lines.push(`${controlPlaneKind} pending upgrade to version ${wanted}`);
  if (versions.heldBy.length > 0)
    lines.push(
      `BeforeClusterUpgrade: ${versions.heldBy.join(", ")} set on the Cluster; remove it to start the upgrade`,
    );
  if (upgrading.length > 0) lines.push(`${names(upgrading)} upgrading to version ${controlPlane}${step}`);
  if (pending.length > 0) lines.push(`${names(pending)} pending upgrade to version ${wanted}`);
  if (deferred.length > 0)
    lines.push(
      `${names(deferred)} upgrade to version ${controlPlane} deferred using defer-upgrade or hold-upgrade-sequence annotations`,
    );
  if (pendingCreate.length > 0)
    lines.push(`${names(pendingCreate)} creation deferred while control plane upgrade is in progress`);
  return lines;
}

function reasonOf({ controlPlaneUpgrading, controlPlanePending, upgrading, pending, deferred }: VersionPlan): string {
  const moving = controlPlaneUpgrading || controlPlanePending || upgrading.length > 0 || pending.length > 0;
  return deferred.length > 0 && !moving ? "MachineDeploymentsUpgradeDeferred" : "ClusterUpgrading";
}

function names(list: readonly string[]): string {
  const sorted = [...list].sort();
  if (sorted.length === 1) return `MachineDeployment ${sorted[0]}`;
  const more = sorted.length > MAX_NAMES ? `, ... (${sorted.length - MAX_NAMES} more)` : "";
  return `MachineDeployments ${sorted.slice(0, MAX_NAMES).join(", ")}${more}`;
}
