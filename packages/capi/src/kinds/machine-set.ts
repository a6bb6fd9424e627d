import { defineKind, type ObjectOf } from "../schema/kind.ts";
import { integer, object, optional, string } from "../schema/schema.ts";
import { labelSelector, machineNaming, machineTemplate, replicasColumns, replicasStatus } from "./machine-template.ts";

export const deletionOrder = object({
  order: optional(
    string({ doc: "Which Machines go first when there are too many.", enum: ["Random", "Newest", "Oldest"] }),
  ),
});

const spec = object({
  clusterName: string({ doc: "Cluster the Machines belong to.", minLength: 1, maxLength: 63 }),
  replicas: optional(integer({ doc: "Machines wanted.", minimum: 0 })),
  selector: labelSelector,
  template: machineTemplate,
  machineNaming: optional(machineNaming),
  deletion: optional(deletionOrder),
});

export const MachineSet = defineKind({
  group: "cluster.x-k8s.io",
  version: "v1beta2",
  kind: "MachineSet",
  plural: "machinesets",
  shortNames: ["ms"],
  doc: "Keeps a number of equal Machines.",
  contracts: { v1beta2: "v1beta2" },
  schema: object({ spec, status: optional(object(replicasStatus)) }),
  scale: {
    specReplicasPath: ".spec.replicas",
    statusReplicasPath: ".status.replicas",
    labelSelectorPath: ".status.selector",
  },
  columns: [
    { name: "Cluster", type: "string", jsonPath: ".spec.clusterName" },
    ...replicasColumns,
    { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
    { name: "Version", type: "string", jsonPath: ".spec.template.spec.version" },
  ],
});
export type MachineSet = ObjectOf<typeof MachineSet>;
