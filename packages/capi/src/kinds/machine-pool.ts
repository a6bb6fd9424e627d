import { machinePoolAdmission } from "../admission/machines.ts";
import { machinePoolV1Beta1 } from "../conversion/machines.ts";
import { v1beta1 } from "../conversion/v1beta1.ts";
import { clusterName } from "../schema/common.ts";
import { defineKind, type ObjectOf } from "../schema/kind.ts";
import { array, boolean, integer, object, optional, string } from "../schema/schema.ts";
import { ageColumn, clusterColumn, pausedColumn, replicasColumns } from "./columns.ts";
import { machineTemplate, replicasStatus } from "./machine-template.ts";
import { deprecatedWith, legacyFailure } from "./shared-status.ts";

const spec = object(
  {
    clusterName,
    replicas: optional(integer({ doc: "Machines wanted.", minimum: 0 })),
    template: machineTemplate,
    providerIDList: optional(
      array(string({ minLength: 1, maxLength: 512 }), {
        doc: "Provider IDs of the pool's instances; written by the controller.",
        maxItems: 10000,
        listType: "atomic",
      }),
    ),
    failureDomains: optional(
      array(string({ minLength: 1, maxLength: 256 }), {
        doc: "Failure domains of the instances.",
        maxItems: 100,
        listType: "atomic",
      }),
    ),
  },
  { doc: "Desired state of the MachinePool." },
);

const nodeReference = object(
  {
    apiVersion: optional(string({ doc: "API version of the Node." })),
    kind: optional(string({ doc: "Kind of the object, Node." })),
    namespace: optional(string({ doc: "Namespace of the object; empty for a Node." })),
    name: optional(string({ doc: "Name of the Node." })),
    uid: optional(string({ doc: "UID of the Node." })),
    resourceVersion: optional(
      string({ doc: "Resource version of the Node that the reference is made to; usually absent." }),
    ),
    fieldPath: optional(string({ doc: "Path of a part of the Node that is referred to; usually absent." })),
  },
  { doc: "Reference to a Node of the workload cluster.", mapType: "atomic" },
);

const { selector: _, ...counters } = replicasStatus;

const status = object(
  {
    ...counters,
    initialization: optional(
      object(
        {
          infrastructureProvisioned: optional(
            boolean({ doc: "True once the infrastructure was provisioned; it never becomes false again." }),
          ),
          bootstrapDataSecretCreated: optional(
            boolean({ doc: "True once the bootstrap data was created; it never becomes false again." }),
          ),
        },
        { doc: "Milestones of the first provisioning of the MachinePool.", minProperties: 1 },
      ),
    ),
    nodeRefs: optional(array(nodeReference, { doc: "Nodes of the pool.", maxItems: 10000, listType: "atomic" })),
    phase: optional(
      string({
        doc: "Coarse lifecycle phase of the MachinePool, for display; controllers use the conditions.",
        enum: [
          "Pending",
          "Provisioning",
          "Provisioned",
          "Running",
          "ScalingUp",
          "ScalingDown",
          "Scaling",
          "Deleting",
          "Failed",
          "Unknown",
        ],
      }),
    ),
    deprecated: optional(
      deprecatedWith({
        ...legacyFailure,
        readyReplicas: optional(integer({ doc: "Number of instances whose Node is ready, as v1beta1 counts them." })),
        availableReplicas: optional(
          integer({ doc: "Number of instances that have been ready for minReadySeconds, as v1beta1 counts them." }),
        ),
        unavailableReplicas: optional(
          integer({ doc: "Number of instances that are missing or not available, as v1beta1 counts them." }),
        ),
      }),
    ),
  },
  { doc: "Observed state of the MachinePool.", minProperties: 1 },
);

/** The v1beta2 schema of a MachinePool's spec and status; the v1beta1 schema is derived from it. */
export const schema = object({ spec, status: optional(status) });

/** A group of machines that the infrastructure provider manages as one unit, such as an auto scaling group. */
export const MachinePool = defineKind({
  group: "cluster.x-k8s.io",
  version: "v1beta2",
  kind: "MachinePool",
  plural: "machinepools",
  shortNames: ["mp"],
  doc: "A group of machines that the infrastructure provider manages as one unit.",
  contracts: { v1beta1: "v1beta1", v1beta2: "v1beta2" },
  schema,
  others: [v1beta1("cluster.x-k8s.io", "MachinePool", schema, machinePoolV1Beta1)],
  admission: machinePoolAdmission,
  scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" },
  columns: [
    clusterColumn,
    ...replicasColumns,
    pausedColumn,
    { name: "Phase", type: "string", jsonPath: ".status.phase" },
    ageColumn,
    { name: "Version", type: "string", jsonPath: ".spec.template.spec.version" },
  ],
});
export type MachinePool = ObjectOf<typeof MachinePool>;
