import { condition, contractReference, failureDomain } from "../schema/common.ts";
import { defineKind, type ObjectOf } from "../schema/kind.ts";
import { array, boolean, integer, object, openObject, optional, string } from "../schema/schema.ts";
import { availabilityGates } from "./machine-spec.ts";
import { deprecatedStatus, versionCounts } from "./shared-status.ts";

const cidrBlocks = object({
  cidrBlocks: array(string({ minLength: 1, maxLength: 43 }), { doc: "Address ranges.", minItems: 1, maxItems: 100 }),
});

const clusterNetwork = object(
  {
    apiServerPort: optional(integer({ doc: "Port of the API server.", minimum: 1, maximum: 65535 })),
    services: optional(cidrBlocks),
    pods: optional(cidrBlocks),
    serviceDomain: optional(string({ doc: "Domain of Services.", minLength: 1, maxLength: 253 })),
  },
  { minProperties: 1 },
);

export const controlPlaneEndpoint = object(
  {
    host: optional(string({ doc: "Where the API is reached.", minLength: 1, maxLength: 512 })),
    port: optional(integer({ doc: "Its port.", minimum: 1, maximum: 65535 })),
  },
  { minProperties: 1 },
);

const replicaStatus = {
  desiredReplicas: optional(integer()),
  replicas: optional(integer()),
  upToDateReplicas: optional(integer()),
  readyReplicas: optional(integer()),
  availableReplicas: optional(integer()),
  versions: optional(versionCounts),
};

const spec = object(
  {
    paused: optional(boolean({ doc: "Stops work on everything of this cluster." })),
    clusterNetwork: optional(clusterNetwork),
    controlPlaneEndpoint: optional(controlPlaneEndpoint),
    controlPlaneRef: optional(contractReference),
    infrastructureRef: optional(contractReference),
    availabilityGates: optional(availabilityGates),
    topology: optional(openObject({ doc: "A cluster described by a ClusterClass." })),
  },
  { minProperties: 1 },
);

const status = object(
  {
    conditions: optional(array(condition, { listType: "map", keys: ["type"], maxItems: 32 })),
    initialization: optional(
      object(
        {
          infrastructureProvisioned: optional(
            boolean({ doc: "True once the infrastructure was ready; never goes back." }),
          ),
          controlPlaneInitialized: optional(
            boolean({ doc: "True once the control plane was reachable; never goes back." }),
          ),
        },
        { minProperties: 1 },
      ),
    ),
    controlPlane: optional(object(replicaStatus)),
    workers: optional(object(replicaStatus)),
    failureDomains: optional(array(failureDomain, { listType: "map", keys: ["name"], maxItems: 100 })),
    phase: optional(string({ enum: ["Pending", "Provisioning", "Provisioned", "Deleting", "Failed", "Unknown"] })),
    observedGeneration: optional(integer({ format: "int64", minimum: 1 })),
    deprecated: optional(deprecatedStatus),
  },
  { minProperties: 1 },
);

export const Cluster = defineKind({
  group: "cluster.x-k8s.io",
  version: "v1beta2",
  kind: "Cluster",
  plural: "clusters",
  shortNames: ["cl"],
  doc: "A Kubernetes cluster: its network, its control plane and its infrastructure.",
  contracts: { v1beta2: "v1beta2" },
  schema: object({ spec: optional(spec), status: optional(status) }),
  columns: [
    { name: "ClusterClass", type: "string", jsonPath: ".spec.topology.classRef.name" },
    { name: "Available", type: "string", jsonPath: '.status.conditions[?(@.type=="Available")].status' },
    { name: "CP Desired", type: "integer", jsonPath: ".status.controlPlane.desiredReplicas" },
    { name: "CP Available", type: "integer", jsonPath: ".status.controlPlane.availableReplicas" },
    { name: "CP Up-to-date", type: "integer", jsonPath: ".status.controlPlane.upToDateReplicas" },
    { name: "W Desired", type: "integer", jsonPath: ".status.workers.desiredReplicas" },
    { name: "W Available", type: "integer", jsonPath: ".status.workers.availableReplicas" },
    { name: "W Up-to-date", type: "integer", jsonPath: ".status.workers.upToDateReplicas" },
    { name: "Paused", type: "string", jsonPath: '.status.conditions[?(@.type=="Paused")].status', priority: 10 },
    { name: "Phase", type: "string", jsonPath: ".status.phase" },
    { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
    { name: "Version", type: "string", jsonPath: ".spec.topology.version" },
  ],
});
export type Cluster = ObjectOf<typeof Cluster>;
