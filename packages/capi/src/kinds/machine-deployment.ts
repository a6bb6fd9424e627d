import { machineDeploymentAdmission } from "../admission/machines.ts";
import { machineDeploymentV1Beta1 } from "../conversion/machines.ts";
import { v1beta1 } from "../conversion/v1beta1.ts";
import { clusterName, labelSelector } from "../schema/common.ts";
import { defineKind, type ObjectOf } from "../schema/kind.ts";
import { boolean, integer, intOrString, object, optional, string, time } from "../schema/schema.ts";
import { ageColumn, clusterColumn, conditionColumn, pausedColumn, replicasColumns } from "./columns.ts";
import { deletionOrder } from "./machine-set.ts";
import { machineNaming, machineTemplate, replicasStatus } from "./machine-template.ts";
import { deprecatedWith } from "./shared-status.ts";

/** Schema of how Machines are replaced when their template changes. */
export const rolloutStrategy = object(
  {
    type: string({ doc: "How Machines are replaced.", enum: ["RollingUpdate", "OnDelete"] }),
    rollingUpdate: optional(
      object(
        {
          maxUnavailable: optional(intOrString({ doc: "How many may be missing meanwhile; default 0." })),
          maxSurge: optional(intOrString({ doc: "How many more may exist meanwhile; default 1." })),
        },
        { minProperties: 1 },
      ),
    ),
  },
  { minProperties: 1 },
);

/** Schema of when and how the Machines of a MachineDeployment are replaced; a Cluster's topology uses it too. */
export const rollout = object(
  {
    after: optional(time({ doc: "Machines older than this are replaced." })),
    strategy: optional(rolloutStrategy),
  },
  { minProperties: 1 },
);

const spec = object({
  clusterName,
  replicas: optional(integer({ doc: "Machines wanted.", minimum: 0 })),
  rollout: optional(rollout),
  selector: labelSelector,
  template: machineTemplate,
  machineNaming: optional(machineNaming),
  remediation: optional(
    object(
      { maxInFlight: optional(intOrString({ doc: "How many may be repaired at a time." })) },
      { minProperties: 1 },
    ),
  ),
  deletion: optional(deletionOrder),
  paused: optional(boolean({ doc: "Stops the rollout; scaling goes on." })),
});

const status = object(
  {
    ...replicasStatus,
    phase: optional(string({ enum: ["ScalingUp", "ScalingDown", "Running", "Failed", "Unknown"] })),
    deprecated: optional(
      deprecatedWith({
        updatedReplicas: optional(integer()),
        readyReplicas: optional(integer()),
        availableReplicas: optional(integer()),
        unavailableReplicas: optional(integer()),
      }),
    ),
  },
  { minProperties: 1 },
);

/** The v1beta2 schema of a MachineDeployment's spec and status; the v1beta1 schema is derived from it. */
export const schema = object({ spec, status: optional(status) });

/** Declares a group of identical worker Machines and rolls out changes of their template. */
export const MachineDeployment = defineKind({
  group: "cluster.x-k8s.io",
  version: "v1beta2",
  kind: "MachineDeployment",
  plural: "machinedeployments",
  shortNames: ["md"],
  doc: "Keeps a number of Machines and replaces them step by step when their template changes.",
  contracts: { v1beta1: "v1beta1", v1beta2: "v1beta2" },
  schema,
  others: [v1beta1("cluster.x-k8s.io", "MachineDeployment", schema, machineDeploymentV1Beta1)],
  admission: machineDeploymentAdmission,
  scale: {
    specReplicasPath: ".spec.replicas",
    statusReplicasPath: ".status.replicas",
    labelSelectorPath: ".status.selector",
  },
  columns: [
    clusterColumn,
    conditionColumn("Available"),
    ...replicasColumns,
    pausedColumn,
    { name: "Phase", type: "string", jsonPath: ".status.phase" },
    ageColumn,
    { name: "Version", type: "string", jsonPath: ".spec.template.spec.version" },
  ],
});
export type MachineDeployment = ObjectOf<typeof MachineDeployment>;
