import { defineKind, type ObjectOf } from "../schema/kind.ts";
import { boolean, integer, intOrString, object, optional, string, time } from "../schema/schema.ts";
import { deletionOrder } from "./machine-set.ts";
import { labelSelector, machineNaming, machineTemplate, replicasColumns, replicasStatus } from "./machine-template.ts";

const rollout = object({
  after: optional(time({ doc: "Machines older than this are replaced." })),
  strategy: optional(
    object({
      type: optional(string({ doc: "How Machines are replaced.", enum: ["RollingUpdate", "OnDelete"] })),
      rollingUpdate: optional(
        object({
          maxUnavailable: optional(intOrString({ doc: "How many may be missing meanwhile; default 0." })),
          maxSurge: optional(intOrString({ doc: "How many more may exist meanwhile; default 1." })),
        }),
      ),
    }),
  ),
});

const spec = object({
  clusterName: string({ doc: "Cluster the Machines belong to.", minLength: 1, maxLength: 63 }),
  replicas: optional(integer({ doc: "Machines wanted.", minimum: 0 })),
  rollout: optional(rollout),
  selector: labelSelector,
  template: machineTemplate,
  machineNaming: optional(machineNaming),
  remediation: optional(object({ maxInFlight: optional(intOrString({ doc: "How many may be repaired at a time." })) })),
  deletion: optional(deletionOrder),
  paused: optional(boolean({ doc: "Stops the rollout; scaling goes on." })),
});

const status = object({
  ...replicasStatus,
  phase: optional(string({ enum: ["ScalingUp", "ScalingDown", "Running", "Failed", "Unknown"] })),
});

export const MachineDeployment = defineKind({
  group: "cluster.x-k8s.io",
  version: "v1beta2",
  kind: "MachineDeployment",
  plural: "machinedeployments",
  shortNames: ["md"],
  doc: "Keeps a number of Machines and replaces them step by step when their template changes.",
  contracts: { v1beta2: "v1beta2" },
  schema: object({ spec, status: optional(status) }),
  scale: {
    specReplicasPath: ".spec.replicas",
    statusReplicasPath: ".status.replicas",
    labelSelectorPath: ".status.selector",
  },
  columns: [
    { name: "Cluster", type: "string", jsonPath: ".spec.clusterName" },
    { name: "Available", type: "string", jsonPath: '.status.conditions[?(@.type=="Available")].status' },
    ...replicasColumns,
    { name: "Phase", type: "string", jsonPath: ".status.phase" },
    { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
    { name: "Version", type: "string", jsonPath: ".spec.template.spec.version" },
  ],
});
export type MachineDeployment = ObjectOf<typeof MachineDeployment>;
