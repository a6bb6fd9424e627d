import { machineAdmission } from "../admission/machines.ts";
import { machineV1Beta1 } from "../conversion/machines.ts";
import { v1beta1 } from "../conversion/v1beta1.ts";
import { conditions, objectName, observedGeneration } from "../schema/common.ts";
import { defineKind, type ObjectOf, type PrinterColumnDefinition } from "../schema/kind.ts";
import { array, boolean, integer, object, optional, string, time } from "../schema/schema.ts";
import { ageColumn, clusterColumn, conditionColumn, pausedColumn } from "./columns.ts";
import { machineSpec } from "./machine-spec.ts";
import { deprecatedStatus } from "./shared-status.ts";

/** Schema of status.addresses of Machines and infrastructure machines. */
export const machineAddresses = array(
  object({
    type: string({
      doc: "What kind of address.",
      enum: ["Hostname", "ExternalIP", "InternalIP", "ExternalDNS", "InternalDNS"],
    }),
    address: string({ doc: "The address.", minLength: 1, maxLength: 256 }),
  }),
  { doc: "Where the machine can be reached.", maxItems: 256, listType: "atomic" },
);

/** corev1.NodeSystemInfo. */
const nodeInfo = object(
  {
    architecture: optional(string()),
    bootID: optional(string()),
    containerRuntimeVersion: optional(string()),
    kernelVersion: optional(string()),
    kubeProxyVersion: optional(string()),
    kubeletVersion: optional(string()),
    machineID: optional(string()),
    operatingSystem: optional(string()),
    osImage: optional(string()),
    swap: optional(object({ capacity: optional(integer({ format: "int64" })) })),
    systemUUID: optional(string()),
  },
  { doc: "What the Node says of its system." },
);

const status = object(
  {
    conditions: optional(conditions),
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
    nodeRef: optional(object({ name: objectName("Name of the Node.") })),
    nodeInfo: optional(nodeInfo),
    lastUpdated: optional(time({ doc: "When the phase last changed." })),
    failureDomain: optional(string({ doc: "Where the machine really is.", minLength: 1, maxLength: 256 })),
    addresses: optional(machineAddresses),
    phase: optional(
      string({
        enum: [
          "Pending",
          "Provisioning",
          "Provisioned",
          "Running",
          "Updating",
          "Deleting",
          "Deleted",
          "Failed",
          "Unknown",
        ],
      }),
    ),
    certificatesExpiryDate: optional(time()),
    deletion: optional(
      object({
        nodeDrainStartTime: optional(time()),
        waitForNodeVolumeDetachStartTime: optional(time()),
        waitForPreDrainHookStartTime: optional(time()),
        waitForPreTerminateHookStartTime: optional(time()),
      }),
    ),
    observedGeneration: optional(observedGeneration),
    deprecated: optional(deprecatedStatus),
  },
  { minProperties: 1 },
);

/** The v1beta2 schema of a Machine's spec and status; the v1beta1 schema is derived from it. */
export const schema = object({ spec: machineSpec, status: optional(status) });

/** One machine of a cluster: connects bootstrap data, infrastructure and the resulting Node. */
export const Machine = defineKind({
  group: "cluster.x-k8s.io",
  version: "v1beta2",
  kind: "Machine",
  plural: "machines",
  shortNames: ["ma"],
  doc: "One machine of a cluster, from its bootstrap data to its Node.",
  contracts: { v1beta1: "v1beta1", v1beta2: "v1beta2" },
  schema,
  others: [v1beta1("cluster.x-k8s.io", "Machine", schema, machineV1Beta1)],
  admission: machineAdmission,
  columns: [
    clusterColumn,
    { name: "Node Name", type: "string", jsonPath: ".status.nodeRef.name" },
    { name: "Provider ID", type: "string", jsonPath: ".spec.providerID", priority: 10 },
    { name: "Failure domain", type: "string", jsonPath: ".status.failureDomain" },
    conditionColumn("Ready"),
    conditionColumn("Available"),
    conditionColumn("Up-to-date", "UpToDate"),
    addressColumn("Internal-IP", "InternalIP"),
    addressColumn("External-IP", "ExternalIP"),
    { name: "OS-Image", type: "string", jsonPath: ".status.nodeInfo.osImage", priority: 10 },
    pausedColumn,
    { name: "Phase", type: "string", jsonPath: ".status.phase" },
    ageColumn,
    { name: "Version", type: "string", jsonPath: ".spec.version" },
  ],
});
export type Machine = ObjectOf<typeof Machine>;

function addressColumn(name: string, type: string): PrinterColumnDefinition {
  return { name, type: "string", jsonPath: `.status.addresses[?(@.type=="${type}")].address`, priority: 10 };
}
