import { condition } from "../schema/common.ts";
import { defineKind, type ObjectOf } from "../schema/kind.ts";
import { array, boolean, integer, map, object, optional, string, time } from "../schema/schema.ts";
import { machineSpec } from "./machine-spec.ts";
import { deprecatedStatus } from "./shared-status.ts";

export const machineAddresses = array(
  object({
    type: string({
      doc: "What kind of address.",
      enum: ["Hostname", "ExternalIP", "InternalIP", "ExternalDNS", "InternalDNS"],
    }),
    address: string({ doc: "The address.", minLength: 1, maxLength: 256 }),
  }),
  { doc: "Where the machine can be reached.", maxItems: 256 },
);

const status = object(
  {
    conditions: optional(array(condition, { listType: "map", keys: ["type"], maxItems: 32 })),
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
    nodeRef: optional(object({ name: string({ doc: "Name of the Node.", minLength: 1, maxLength: 253 }) })),
    nodeInfo: optional(map(string(), { doc: "What the Node says of its system." })),
    lastUpdated: optional(time({ doc: "When the phase last changed." })),
    failureDomain: optional(string({ doc: "Where the machine really is.", maxLength: 256 })),
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
    observedGeneration: optional(integer({ format: "int64", minimum: 1 })),
    deprecated: optional(deprecatedStatus),
  },
  { minProperties: 1 },
);

const conditionColumn = (name: string): { name: string; type: "string"; jsonPath: string } => ({
  name,
  type: "string",
  jsonPath: `.status.conditions[?(@.type=="${name === "Up-to-date" ? "UpToDate" : name}")].status`,
});

export const Machine = defineKind({
  group: "cluster.x-k8s.io",
  version: "v1beta2",
  kind: "Machine",
  plural: "machines",
  shortNames: ["ma"],
  doc: "One machine of a cluster, from its bootstrap data to its Node.",
  contracts: { v1beta2: "v1beta2" },
  schema: object({ spec: machineSpec, status: optional(status) }),
  columns: [
    { name: "Cluster", type: "string", jsonPath: ".spec.clusterName" },
    { name: "Node Name", type: "string", jsonPath: ".status.nodeRef.name" },
    { name: "Provider ID", type: "string", jsonPath: ".spec.providerID", priority: 10 },
    { name: "Failure domain", type: "string", jsonPath: ".status.failureDomain", priority: 10 },
    conditionColumn("Ready"),
    conditionColumn("Available"),
    conditionColumn("Up-to-date"),
    {
      name: "Internal-IP",
      type: "string",
      jsonPath: '.status.addresses[?(@.type=="InternalIP")].address',
      priority: 10,
    },
    { name: "Phase", type: "string", jsonPath: ".status.phase" },
    { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
    { name: "Version", type: "string", jsonPath: ".spec.version" },
  ],
});
export type Machine = ObjectOf<typeof Machine>;
