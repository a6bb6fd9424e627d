import { poolAdmission } from "../admission/pools.ts";
import { poolV1Alpha1 } from "../ipam/pool-v1alpha1.ts";
import { defineKind, type ObjectOf } from "../schema/kind.ts";
import { array, boolean, integer, object, optional, string } from "../schema/schema.ts";
import { poolColumns, poolStatus } from "./pool-status.ts";

const addresses = (doc: string) => array(string({ minLength: 1, maxLength: 87 }), { doc, maxItems: 1000 });

const spec = object(
  {
    addresses: addresses("Addresses, ranges a-b and CIDRs, all of one IP family."),
    prefix: integer({ doc: "Prefix length of the network, which contains all addresses.", minimum: 0, maximum: 128 }),
    gateway: optional(string({ doc: "Gateway of the network; never allocated.", maxLength: 39 })),
    allocateReservedIPAddresses: optional(
      boolean({ doc: "Whether the first and (IPv4) last address of the network are allocated too." }),
    ),
    excludedAddresses: optional(addresses("Addresses, ranges and CIDRs that are never allocated.")),
    addressReuseGracePeriodSeconds: optional(
      integer({ doc: "How long a released address is held back before it is allocated again.", minimum: 0 }),
    ),
  },
  { doc: "Desired state of the pool." },
);

const status = poolStatus("Addresses");
/** What both kinds of pools have. */
export const poolSchema = object({ spec, status: optional(status) });

const shared = {
  group: "ipam.cluster.x-k8s.io",
  version: "v1alpha2",
  contracts: { v1beta2: "v1alpha2" },
  schema: poolSchema,
  columns: poolColumns("Addresses", ".spec.addresses"),
};

/** Addresses for claims of its own namespace. */
export const InClusterIPPool = defineKind({
  ...shared,
  kind: "InClusterIPPool",
  others: [poolV1Alpha1(shared.group, "InClusterIPPool", status)],
  admission: poolAdmission("InClusterIPPool"),
  plural: "inclusterippools",
  doc: "A pool of addresses for claims in its namespace.",
});
export type InClusterIPPool = ObjectOf<typeof InClusterIPPool>;

/** Addresses for claims of all namespaces. */
export const GlobalInClusterIPPool = defineKind({
  ...shared,
  kind: "GlobalInClusterIPPool",
  others: [poolV1Alpha1(shared.group, "GlobalInClusterIPPool", status)],
  admission: poolAdmission("GlobalInClusterIPPool"),
  plural: "globalinclusterippools",
  scope: "Cluster",
  doc: "A pool of addresses for claims in all namespaces.",
});
export type GlobalInClusterIPPool = ObjectOf<typeof GlobalInClusterIPPool>;
