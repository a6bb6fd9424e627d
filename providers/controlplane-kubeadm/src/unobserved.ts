import type { Machine } from "@capstan/capi";
import type { MachineObservation, ReportedHealth, WorkloadObservation } from "./workload/workload-side.ts";

/** What is known of a Machine while its workload cluster has not been read. */
export function unobserved(message = "Waiting for Cluster control plane to be initialized"): MachineObservation {
  const unknown: ReportedHealth = { status: "Unknown", reason: "InspectionFailed", message };
  return {
    components: {
      apiServer: unknown,
      controllerManager: unknown,
      scheduler: unknown,
      etcdPod: unknown,
      etcdMember: unknown,
      nodeLabels: unknown,
    },
  };
}

/** What is known of a workload cluster without a Machine. */
export function nothingObserved(machines: readonly Machine[], reason: string): WorkloadObservation {
  return {
    unreachable: reason,
    initialized: undefined,
    machines: new Map(machines.map((machine) => [machine.metadata.name ?? "", unobserved()])),
    members: { unknown: reason },
    youngNodes: new Set(),
    etcdTrouble: undefined,
    strayNodes: [],
    recheckMs: Infinity,
  };
}
