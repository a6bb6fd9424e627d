import type { PrinterColumnDefinition } from "../schema/kind.ts";

/** Returns a column with the status of a condition. */
export function conditionColumn(name: string, type = name, priority?: number): PrinterColumnDefinition {
  const jsonPath = `.status.conditions[?(@.type=="${type}")].status`;
  return { name, type: "string", jsonPath, priority };
}

/** Column with the status of the Paused condition; `kubectl get -o wide` shows it. */
export const pausedColumn = conditionColumn("Paused", "Paused", 10);

/** Column with the time since an object was created. */
export const ageColumn: PrinterColumnDefinition = {
  name: "Age",
  type: "date",
  jsonPath: ".metadata.creationTimestamp",
};

/** Column with spec.clusterName. */
export const clusterColumn: PrinterColumnDefinition = {
  name: "Cluster",
  type: "string",
  jsonPath: ".spec.clusterName",
};

/** Columns with the replica counters of kinds that scale Machines, such as MachineSet. */
export const replicasColumns: readonly PrinterColumnDefinition[] = [
  { name: "Desired", type: "integer", jsonPath: ".spec.replicas" },
  { name: "Current", type: "integer", jsonPath: ".status.replicas" },
  { name: "Ready", type: "integer", jsonPath: ".status.readyReplicas" },
  { name: "Available", type: "integer", jsonPath: ".status.availableReplicas" },
  { name: "Up-to-date", type: "integer", jsonPath: ".status.upToDateReplicas" },
];
