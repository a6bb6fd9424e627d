import { machineSetAdmission } from "../admission/machines.ts";
import { machineSetV1Beta1 } from "../conversion/machines.ts";
import { v1beta1 } from "../conversion/v1beta1.ts";
import { clusterName, labelSelector } from "../schema/common.ts";
import { defineKind, type ObjectOf } from "../schema/kind.ts";
import { integer, object, optional, string } from "../schema/schema.ts";
import { ageColumn, clusterColumn, pausedColumn, replicasColumns } from "./columns.ts";
import { machineNaming, machineTemplate, replicasStatus } from "./machine-template.ts";
import { deprecatedWith, legacyFailure } from "./shared-status.ts";

/** Schema of the order in which healthy Machines are deleted on scale-down: random, newest or oldest first. */
export const deletionOrderField = optional(
  string({ doc: "Which Machines are deleted first on scale-down.", enum: ["Random", "Newest", "Oldest"] }),
);

/** Schema of spec.deletion of MachineSets and MachineDeployments: the order in which Machines are deleted on scale-down. */
export const deletionOrder = object(
  { order: deletionOrderField },
  { doc: "How Machines are selected for deletion when replicas decrease.", minProperties: 1 },
);

const spec = object(
  {
    clusterName,
    replicas: optional(integer({ doc: "Machines wanted.", minimum: 0 })),
    selector: labelSelector,
    template: machineTemplate,
    machineNaming: optional(machineNaming),
    deletion: optional(deletionOrder),
  },
  { doc: "Desired state of the MachineSet." },
);

const status = object(
  {
    ...replicasStatus,
    deprecated: optional(
      deprecatedWith({
        ...legacyFailure,
        fullyLabeledReplicas: optional(
          integer({ doc: "Number of Machines whose labels match the labels of the template." }),
        ),
        readyReplicas: optional(integer({ doc: "Number of Machines whose Node is ready, as v1beta1 counts them." })),
        availableReplicas: optional(
          integer({ doc: "Number of Machines that have been ready for minReadySeconds, as v1beta1 counts them." }),
        ),
      }),
    ),
  },
  { doc: "Observed state of the MachineSet.", minProperties: 1 },
);

/** The v1beta2 schema of a MachineSet's spec and status; the v1beta1 schema is derived from it. */
export const schema = object({ spec, status: optional(status) });

/** Keeps a number of identical Machines running; usually created by a MachineDeployment. */
export const MachineSet = defineKind({
  group: "cluster.x-k8s.io",
  version: "v1beta2",
  kind: "MachineSet",
  plural: "machinesets",
  shortNames: ["ms"],
  doc: "Keeps a number of identical Machines running.",
  contracts: { v1beta1: "v1beta1", v1beta2: "v1beta2" },
  schema,
  others: [v1beta1("cluster.x-k8s.io", "MachineSet", schema, machineSetV1Beta1)],
  admission: machineSetAdmission,
  scale: {
    specReplicasPath: ".spec.replicas",
    statusReplicasPath: ".status.replicas",
    labelSelectorPath: ".status.selector",
  },
  columns: [
    clusterColumn,
    ...replicasColumns,
    pausedColumn,
    ageColumn,
    { name: "Version", type: "string", jsonPath: ".spec.template.spec.version" },
  ],
});
export type MachineSet = ObjectOf<typeof MachineSet>;
