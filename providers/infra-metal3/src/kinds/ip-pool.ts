import {
  array,
  defineKind,
  type Infer,
  integer,
  map,
  type ObjectOf,
  object,
  optional,
  string,
  time,
} from "@capstan/capi";
import { ipPoolProblems } from "./ip-pool-rules.ts";
import { AGE_COLUMN, CLUSTER_COLUMN } from "./metal3-shared.ts";

/** API group of Metal3's IP address manager. */
export const METAL3_IPAM_GROUP = "ipam.metal3.io";

const address = (doc: string) => string({ doc, minLength: 1, maxLength: 45 });
const network = {
  prefix: optional(integer({ doc: "Length of the network's prefix.", minimum: 0, maximum: 128 })),
  gateway: optional(address("The network's gateway.")),
  dnsServers: optional(array(address("A server."), { doc: "DNS servers.", maxItems: 32 })),
};

const spec = object(
  {
    clusterName: optional(string({ doc: "Cluster it belongs to.", minLength: 1, maxLength: 63 })),
    pools: optional(
      array(
        object(
          {
            start: optional(address("First address.")),
            end: optional(address("Last address.")),
            subnet: optional(string({ doc: "Network that bounds the addresses.", minLength: 1, maxLength: 49 })),
            ...network,
          },
          { doc: "One range of addresses." },
        ),
        { doc: "Ranges of addresses, in the order of allocation.", maxItems: 256 },
      ),
    ),
    allocationStrategy: optional(
      string({
        doc: "Whether the lowest free address or a random one is allocated.",
        enum: ["sequential", "random"],
        default: "sequential",
      }),
    ),
    preAllocations: optional(map(address("An address."), { doc: "Addresses kept for claims of these names." })),
    ...network,
    namePrefix: string({
      doc: "Prefix of the names of its IPAddresses.",
      minLength: 1,
      maxLength: 200,
      rules: [{ rule: "self == oldSelf", message: "namePrefix cannot change" }],
    }),
  },
  { doc: "Desired state of the IPPool." },
);

/** Desired state of an IPPool. */
export type IPPoolSpec = Infer<typeof spec>;

/** A pool of addresses for IPClaims. */
export const IPPool = defineKind({
  group: METAL3_IPAM_GROUP,
  version: "v1alpha1",
  kind: "IPPool",
  plural: "ippools",
  shortNames: ["ipp", "ippool", "m3ipp", "m3ippool", "metal3ipp", "metal3ippool"],
  doc: "A pool of addresses for IPClaims, and for IPAddressClaims of Cluster API that name it.",
  labels: { "cluster.x-k8s.io/v1beta1": "v1alpha1", "cluster.x-k8s.io/v1beta2": "v1alpha1" },
  schema: object({
    spec,
    status: optional(
      object(
        {
          lastUpdated: optional(time({ doc: "Time when addresses were last allocated or released." })),
          // One writer, and thousands of entries: each alone would be a field of its own to keep track of.
          indexes: optional(
            map(address("An address."), {
              doc: "Allocated addresses by claim; the first 10,000 by the name of the claim.",
              mapType: "atomic",
            }),
          ),
        },
        { doc: "Observed state of the IPPool." },
      ),
    ),
  }),
  columns: [CLUSTER_COLUMN, AGE_COLUMN],
  admission: { validate: (pool, old) => ipPoolProblems(pool.spec, old?.spec, old?.status?.indexes ?? {}) },
});
export type IPPool = ObjectOf<typeof IPPool>;
