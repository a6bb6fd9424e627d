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
  object(
    {
      type: string({
        doc: "Type of the address.",
        enum: ["Hostname", "ExternalIP", "InternalIP", "ExternalDNS", "InternalDNS"],
      }),
      address: string({ doc: "The address.", minLength: 1, maxLength: 256 }),
    },
    { doc: "One address of the machine." },
  ),
  { doc: "Addresses of the machine.", maxItems: 256, listType: "atomic" },
);

/** corev1.NodeSystemInfo. */
const nodeInfo = object(
  {
    architecture: optional(string({ doc: "CPU architecture of the node." })),
    bootID: optional(string({ doc: "ID of the current boot of the node." })),
    containerRuntimeVersion: optional(string({ doc: "Name and version of the container runtime." })),
    kernelVersion: optional(string({ doc: "Version of the kernel." })),
    kubeProxyVersion: optional(string({ doc: "Version of kube-proxy; deprecated in Kubernetes." })),
    kubeletVersion: optional(string({ doc: "Version of the kubelet." })),
    machineID: optional(string({ doc: "Machine ID of the operating system." })),
    operatingSystem: optional(string({ doc: "Operating system of the node, such as linux." })),
    osImage: optional(string({ doc: "Name and release of the operating system image." })),
    swap: optional(
      object(
        { capacity: optional(integer({ doc: "Size of the swap space in bytes.", format: "int64" })) },
        { doc: "Swap space of the node." },
      ),
    ),
    systemUUID: optional(string({ doc: "UUID of the system as its firmware reports it." })),
  },
  { doc: "System information of the Node." },
);

const status = object(
  {
    conditions: optional(conditions),
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
        { doc: "Milestones of the first provisioning of the Machine.", minProperties: 1 },
      ),
    ),
    nodeRef: optional(
      object(
        { name: objectName("Name of the Node.") },
        { doc: "Reference to the Node of the Machine in the workload cluster." },
      ),
    ),
    nodeInfo: optional(nodeInfo),
    lastUpdated: optional(time({ doc: "When the phase last changed." })),
    failureDomain: optional(string({ doc: "Actual failure domain of the machine.", minLength: 1, maxLength: 256 })),
    addresses: optional(machineAddresses),
    phase: optional(
      string({
        doc: "Coarse lifecycle phase of the Machine, for display; controllers use the conditions.",
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
    certificatesExpiryDate: optional(
      time({ doc: "Time when the first certificate of a control plane Machine expires; absent on workers." }),
    ),
    deletion: optional(
      object(
        {
          nodeDrainStartTime: optional(time({ doc: "Time when the drain of the Node started." })),
          waitForNodeVolumeDetachStartTime: optional(
            time({ doc: "Time when the Machine started to wait for volumes to detach from the Node." }),
          ),
          waitForPreDrainHookStartTime: optional(
            time({ doc: "Time when the Machine started to wait for pre-drain hooks." }),
          ),
          waitForPreTerminateHookStartTime: optional(
            time({ doc: "Time when the Machine started to wait for pre-terminate hooks." }),
          ),
        },
        { doc: "Times of the steps of the deletion; absent until the Machine is deleted." },
      ),
    ),
    observedGeneration: optional(observedGeneration),
    deprecated: optional(deprecatedStatus),
  },
  { doc: "Observed state of the Machine.", minProperties: 1 },
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
