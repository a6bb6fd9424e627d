import {
  array,
  boolean,
  condition,
  defineKind,
  failureDomain,
  type Infer,
  integer,
  type ObjectOf,
  object,
  optional,
  string,
} from "@capstan/capi";

const endpoint = object(
  {
    host: string({ doc: "Address or name of the API server.", minLength: 1, maxLength: 512 }),
    port: integer({ doc: "Its port.", minimum: 1, maximum: 65535 }),
  },
  { doc: "Endpoint of the control plane; the controller sets it when it is absent." },
);

const reference = object(
  {
    apiGroup: string({ doc: "API group of the infrastructure cluster.", minLength: 1, maxLength: 253 }),
    kind: string({
      doc: "Kind of the infrastructure cluster, of any provider that implements the contract.",
      minLength: 1,
      maxLength: 63,
    }),
    name: string({
      doc: "Name of the infrastructure cluster. Upstream's controllers look it up by the name of the Cluster's infrastructureRef, so the same name is the safe choice.",
      minLength: 1,
      maxLength: 253,
    }),
    optional: optional(boolean({ doc: "Whether the cluster becomes ready without it." })),
    controlPlane: optional(
      boolean({ doc: "Whether its endpoint and failure domains are used for the control plane." }),
    ),
  },
  { doc: "Reference to one infrastructure cluster in the same namespace." },
);

const spec = object(
  {
    controlPlaneEndpoint: optional(endpoint),
    infrastructureRefs: array(reference, {
      doc: "The infrastructure clusters that make up this one.",
      minItems: 1,
      maxItems: 16,
      listType: "map",
      keys: ["kind", "name"],
      rules: [
        {
          rule: "self.filter(r, has(r.controlPlane) && r.controlPlane).size() <= 1",
          message: "at most one infrastructure can be the control plane's",
        },
      ],
    }),
  },
  { doc: "Desired state of the MetaCluster." },
);

const child = object(
  {
    kind: string({ doc: "Kind of the infrastructure cluster.", maxLength: 63 }),
    name: string({ doc: "Name of the infrastructure cluster.", maxLength: 253 }),
    provisioned: boolean({ doc: "Whether it is ready for machines." }),
    reason: optional(string({ doc: "Machine-readable reason why it is not provisioned.", maxLength: 256 })),
    message: optional(string({ doc: "Human-readable explanation of why it is not provisioned.", maxLength: 4096 })),
  },
  { doc: "Observed state of one infrastructure cluster." },
);

const status = object(
  {
    conditions: optional(
      array(condition, { doc: "Conditions of the MetaCluster.", listType: "map", keys: ["type"], maxItems: 32 }),
    ),
    initialization: optional(
      object(
        {
          provisioned: optional(
            boolean({ doc: "True once all that are not optional were provisioned; it never becomes false again." }),
          ),
        },
        { doc: "Milestones of the first provisioning of the MetaCluster." },
      ),
    ),
    failureDomains: optional(
      array(failureDomain, {
        doc: "Failure domains that the infrastructure clusters offer.",
        listType: "map",
        keys: ["name"],
        maxItems: 100,
      }),
    ),
    infrastructures: optional(
      array(child, {
        doc: "Observed state of each infrastructure cluster.",
        listType: "map",
        keys: ["kind", "name"],
        maxItems: 16,
      }),
    ),
    observedGeneration: optional(
      integer({ doc: "Generation of the spec that the status was computed from.", format: "int64", minimum: 1 }),
    ),
  },
  { doc: "Observed state of the MetaCluster." },
);

/** An entry of spec.infrastructureRefs: a child, and whether it hosts the control plane or is optional. */
export type InfrastructureReference = Infer<typeof reference>;

/** Infrastructure cluster that combines several others, so that one Cluster can have machines of several providers. */
export const MetaCluster = defineKind({
  group: "infrastructure.cluster.x-k8s.io",
  version: "v1beta2",
  kind: "MetaCluster",
  plural: "metaclusters",
  doc: "An infrastructure cluster that consists of several others, so that one Cluster can have machines of many providers.",
  contracts: { v1beta2: "v1beta2" },
  schema: object({ spec, status: optional(status) }),
  columns: [
    { name: "Cluster", type: "string", jsonPath: ".metadata.labels['cluster\\.x-k8s\\.io/cluster-name']" },
    { name: "Ready", type: "string", jsonPath: ".status.conditions[?(@.type=='Ready')].status" },
    { name: "Provisioned", type: "boolean", jsonPath: ".status.initialization.provisioned" },
    { name: "Infrastructures", type: "string", jsonPath: ".spec.infrastructureRefs[*].kind" },
    { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
  ],
});
export type MetaCluster = ObjectOf<typeof MetaCluster>;
