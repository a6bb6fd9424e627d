import type { PrinterColumnDefinition } from "../schema/kind.ts";

/** A column with the status of a condition. */
export function conditionColumn(name: string, type = name, priority?: number): PrinterColumnDefinition {
  const jsonPath = `.status.conditions[?(@.type=="${type}")].status`;
  return { name, type: "string", jsonPath, ...(priority === undefined ? {} : { priority }) };
}

/** Whether work on the object is stopped; shown by `-o wide`. */
export const pausedColumn = conditionColumn("Paused", "Paused", 10);

export const ageColumn: PrinterColumnDefinition = {
  name: "Age",
  type: "date",
  jsonPath: ".metadata.creationTimestamp",
};

export const clusterColumn: PrinterColumnDefinition = {
  name: "Cluster",
  type: "string",
  jsonPath: ".spec.clusterName",
};

/** The counters of what keeps a number of Machines. */
export const replicasColumns: readonly PrinterColumnDefinition[] = [
  { name: "Desired", type: "integer", jsonPath: ".spec.replicas" },
  { name: "Current", type: "integer", jsonPath: ".status.replicas" },
  { name: "Ready", type: "integer", jsonPath: ".status.readyReplicas" },
  { name: "Available", type: "integer", jsonPath: ".status.availableReplicas" },
  { name: "Up-to-date", type: "integer", jsonPath: ".status.upToDateReplicas" },
];
