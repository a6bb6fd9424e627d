import { clusterAdmission } from "../admission/cluster.ts";
import { clusterV1Beta1 } from "../conversion/clusters.ts";
import { v1beta1 } from "../conversion/v1beta1.ts";
import { conditions, contractReference, failureDomain, observedGeneration } from "../schema/common.ts";
import { defineKind, type ObjectOf, type PrinterColumnDefinition } from "../schema/kind.ts";
import { array, boolean, documented, integer, object, optional, string } from "../schema/schema.ts";
import { ageColumn, conditionColumn, pausedColumn } from "./columns.ts";
import { availabilityGates } from "./machine-spec.ts";
import { clusterVersionCounts, deprecatedStatus } from "./shared-status.ts";
import { topology } from "./topology.ts";

const cidrBlocks = object(
  {
    cidrBlocks: array(string({ minLength: 1, maxLength: 43 }), {
      doc: "Address ranges.",
      minItems: 1,
      maxItems: 100,
      listType: "atomic",
    }),
  },
  { doc: "Address ranges of one purpose in the cluster network." },
);

const clusterNetwork = object(
  {
    apiServerPort: optional(integer({ doc: "Port of the API server.", minimum: 1, maximum: 65535 })),
    services: optional(documented(cidrBlocks, "Address ranges that Services get their cluster IPs from.")),
    pods: optional(documented(cidrBlocks, "Address ranges that Pods get their IPs from.")),
    serviceDomain: optional(string({ doc: "Domain of Services.", minLength: 1, maxLength: 253 })),
  },
  { doc: "Network settings of the cluster.", minProperties: 1 },
);

/** Schema of the host and port at which a cluster's API server is reached. */
export const controlPlaneEndpoint = object(
  {
    host: optional(string({ doc: "Address or name of the API server.", minLength: 1, maxLength: 512 })),
    port: optional(integer({ doc: "Its port.", minimum: 1, maximum: 65535 })),
  },
  { doc: "Endpoint at which clients and nodes reach the API server of the cluster.", minProperties: 1 },
);

const replicaStatus = {
  desiredReplicas: optional(integer({ doc: "Number of Machines that should exist." })),
  replicas: optional(integer({ doc: "Number of Machines that exist." })),
  upToDateReplicas: optional(integer({ doc: "Number of Machines whose UpToDate condition is True." })),
  readyReplicas: optional(integer({ doc: "Number of Machines whose Ready condition is True." })),
  availableReplicas: optional(integer({ doc: "Number of Machines whose Available condition is True." })),
  versions: optional(clusterVersionCounts),
  upgradePlan: optional(
    array(
      object(
        { version: string({ doc: "Kubernetes version that this step upgrades to.", minLength: 1, maxLength: 256 }) },
        { doc: "One step of the upgrade." },
      ),
      {
        doc: "Versions that remain to be upgraded to.",
        minItems: 1,
        maxItems: 32,
        listType: "atomic",
      },
    ),
  ),
};

const spec = object(
  {
    paused: optional(boolean({ doc: "Stops reconciliation of the Cluster and its objects." })),
    clusterNetwork: optional(clusterNetwork),
    controlPlaneEndpoint: optional(controlPlaneEndpoint),
    controlPlaneRef: optional(
      documented(
        contractReference,
        "Reference to the object that provides the control plane, such as a KubeadmControlPlane.",
      ),
    ),
    infrastructureRef: optional(
      documented(contractReference, "Reference to the infrastructure cluster of the provider."),
    ),
    availabilityGates: optional(availabilityGates),
    topology: optional(topology),
  },
  { doc: "Desired state of the Cluster.", minProperties: 1 },
);

const status = object(
  {
    conditions: optional(conditions),
    initialization: optional(
      object(
        {
          infrastructureProvisioned: optional(
            boolean({ doc: "True once the infrastructure was ready; it never becomes false again." }),
          ),
          controlPlaneInitialized: optional(
            boolean({ doc: "True once the control plane was reachable; it never becomes false again." }),
          ),
        },
        { doc: "Milestones of the first provisioning of the Cluster.", minProperties: 1 },
      ),
    ),
    controlPlane: optional(object(replicaStatus, { doc: "Replica counts and versions of the control plane." })),
    workers: optional(object(replicaStatus, { doc: "Replica counts and versions of all workers." })),
    failureDomains: optional(
      array(failureDomain, {
        doc: "Failure domains that the infrastructure provider offers.",
        listType: "map",
        keys: ["name"],
        minItems: 1,
        maxItems: 100,
      }),
    ),
    phase: optional(
      string({
        doc: "Coarse lifecycle phase of the Cluster, for display; controllers use the conditions.",
        enum: ["Pending", "Provisioning", "Provisioned", "Deleting", "Failed", "Unknown"],
      }),
    ),
    observedGeneration: optional(observedGeneration),
    deprecated: optional(deprecatedStatus),
  },
  { doc: "Observed state of the Cluster.", minProperties: 1 },
);

/** The v1beta2 schema of a Cluster's spec and status; the v1beta1 schema is derived from it. */
export const schema = object({ spec, status: optional(status) });

/** A Kubernetes cluster with its network settings and references to its control plane and infrastructure. */
export const Cluster = defineKind({
  group: "cluster.x-k8s.io",
  version: "v1beta2",
  kind: "Cluster",
  plural: "clusters",
  shortNames: ["cl"],
  doc: "A Kubernetes cluster: its network, its control plane and its infrastructure.",
  contracts: { v1beta1: "v1beta1", v1beta2: "v1beta2" },
  schema,
  others: [v1beta1("cluster.x-k8s.io", "Cluster", schema, clusterV1Beta1)],
  admission: clusterAdmission,
  columns: [
    { name: "ClusterClass", type: "string", jsonPath: ".spec.topology.classRef.name" },
    conditionColumn("Available"),
    ...counterColumns("CP", "controlPlane"),
    ...counterColumns("W", "workers"),
    pausedColumn,
    { name: "Phase", type: "string", jsonPath: ".status.phase" },
    ageColumn,
    { name: "Version", type: "string", jsonPath: ".spec.topology.version" },
  ],
});
export type Cluster = ObjectOf<typeof Cluster>;

function counterColumns(prefix: string, field: string): PrinterColumnDefinition[] {
  const column = (name: string, counter: string, wide: boolean): PrinterColumnDefinition => ({
    name: `${prefix} ${name}`,
    type: "integer",
    jsonPath: `.status.${field}.${counter}`,
    ...(wide ? { priority: 10 } : {}),
  });
  return [
    column("Desired", "desiredReplicas", false),
    column("Current", "replicas", true),
    column("Ready", "readyReplicas", true),
    column("Available", "availableReplicas", false),
    column("Up-to-date", "upToDateReplicas", false),
  ];
}
