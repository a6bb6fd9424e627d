import { machinePoolAdmission } from "../admission/machines.ts";
import { machinePoolV1Beta1 } from "../conversion/machines.ts";
import { v1beta1 } from "../conversion/v1beta1.ts";
import { clusterName } from "../schema/common.ts";
import { defineKind, type ObjectOf } from "../schema/kind.ts";
import { array, boolean, integer, object, optional, string } from "../schema/schema.ts";
import { ageColumn, clusterColumn, pausedColumn, replicasColumns } from "./columns.ts";
import { machineTemplate, replicasStatus } from "./machine-template.ts";
import { deprecatedWith, legacyFailure } from "./shared-status.ts";

const spec = object({
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
      doc: "Where instances may be placed.",
      maxItems: 100,
      listType: "atomic",
    }),
  ),
});

const nodeReference = object(
  {
    apiVersion: optional(string()),
    kind: optional(string()),
    namespace: optional(string()),
    name: optional(string()),
    uid: optional(string()),
    resourceVersion: optional(string()),
    fieldPath: optional(string()),
  },
  { mapType: "atomic" },
);

const { selector: _, ...counters } = replicasStatus;

const status = object(
  {
    ...counters,
    initialization: optional(
      object(
        {
          infrastructureProvisioned: optional(
            boolean({ doc: "True once the infrastructure was there; never goes back." }),
          ),
          bootstrapDataSecretCreated: optional(
            boolean({ doc: "True once bootstrap data was there; never goes back." }),
          ),
        },
        { minProperties: 1 },
      ),
    ),
    nodeRefs: optional(array(nodeReference, { doc: "Nodes of the pool.", maxItems: 10000, listType: "atomic" })),
    phase: optional(
      string({
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
        readyReplicas: optional(integer()),
        availableReplicas: optional(integer()),
        unavailableReplicas: optional(integer()),
      }),
    ),
  },
  { minProperties: 1 },
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
  doc: "A number of machines that the infrastructure provider keeps as one group.",
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
