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
          maxUnavailable: optional(
            intOrString({ doc: "How many Machines may be unavailable during a rollout; default 0." }),
          ),
          maxSurge: optional(
            intOrString({ doc: "How many additional Machines may exist during a rollout; default 1." }),
          ),
        },
        { doc: "Limits of a rolling update; only with type RollingUpdate.", minProperties: 1 },
      ),
    ),
  },
  { doc: "How Machines are replaced when their template changes.", minProperties: 1 },
);

/** Schema of when and how the Machines of a MachineDeployment are replaced; a Cluster's topology uses it too. */
export const rollout = object(
  {
    after: optional(time({ doc: "Machines older than this are replaced." })),
    strategy: optional(rolloutStrategy),
  },
  { doc: "When and how Machines are replaced.", minProperties: 1 },
);

const spec = object(
  {
    clusterName,
    replicas: optional(integer({ doc: "Machines wanted.", minimum: 0 })),
    rollout: optional(rollout),
    selector: labelSelector,
    template: machineTemplate,
    machineNaming: optional(machineNaming),
    remediation: optional(
      object(
        { maxInFlight: optional(intOrString({ doc: "How many Machines may be remediated at a time." })) },
        { doc: "Limits for the remediation of unhealthy Machines.", minProperties: 1 },
      ),
    ),
    deletion: optional(deletionOrder),
    paused: optional(boolean({ doc: "Pauses rollouts; scaling continues." })),
  },
  { doc: "Desired state of the MachineDeployment." },
);

const status = object(
  {
    ...replicasStatus,
    phase: optional(
      string({
        doc: "Coarse phase of the MachineDeployment, for display; controllers use the conditions.",
        enum: ["ScalingUp", "ScalingDown", "Running", "Failed", "Unknown"],
      }),
    ),
    deprecated: optional(
      deprecatedWith({
        updatedReplicas: optional(
          integer({ doc: "Number of Machines that match the current template, as v1beta1 counts them." }),
        ),
        readyReplicas: optional(integer({ doc: "Number of Machines whose Node is ready, as v1beta1 counts them." })),
        availableReplicas: optional(
          integer({ doc: "Number of Machines that have been ready for minReadySeconds, as v1beta1 counts them." }),
        ),
        unavailableReplicas: optional(
          integer({ doc: "Number of Machines that are missing or not available, as v1beta1 counts them." }),
        ),
      }),
    ),
  },
  { doc: "Observed state of the MachineDeployment.", minProperties: 1 },
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
