import { prefixPoolAdmission } from "../admission/pools.ts";
import { DEFAULT_PREFIX_LENGTH } from "../ipam/pool-prefixes.ts";
import { defineKind, type ObjectOf } from "../schema/kind.ts";
import { array, integer, object, optional, string } from "../schema/schema.ts";
import { poolColumns, poolStatus } from "./pool-status.ts";

const prefixes = (doc: string) => array(string({ minLength: 1, maxLength: 87 }), { doc, maxItems: 1000 });

const spec = object(
  {
    prefixes: prefixes("IPv6 prefixes, such as fd00::/48, from which longer ones are allocated."),
    allocationPrefixLength: optional(
      integer({
        doc: "Length of each allocated prefix; at least that of every entry of prefixes. Immutable.",
        minimum: 1,
        maximum: 128,
        default: DEFAULT_PREFIX_LENGTH,
      }),
    ),
    gateway: optional(
      string({ doc: "An IPv6 address that every IPAddress gets as its gateway; reserves no prefix.", maxLength: 39 }),
    ),
    excludedPrefixes: optional(
      prefixes("Addresses, ranges a-b and prefixes; prefixes that overlap one of them are never allocated."),
    ),
  },
  { doc: "Desired state of the pool." },
);

/** What both kinds of pools have. */
export const prefixPoolSchema = object({ spec, status: optional(poolStatus("Prefixes")) });

const shared = {
  group: "ipam.cluster.x-k8s.io",
  version: "v1alpha2",
  contracts: { v1beta2: "v1alpha2" },
  schema: prefixPoolSchema,
  columns: poolColumns("Prefixes", ".spec.prefixes"),
};

/** Prefixes for claims of its own namespace. */
export const InClusterPrefixPool = defineKind({
  ...shared,
  kind: "InClusterPrefixPool",
  admission: prefixPoolAdmission("InClusterPrefixPool"),
  plural: "inclusterprefixpools",
  doc: "A pool of IPv6 prefixes for claims in its namespace: each claim gets a network of its own.",
});
export type InClusterPrefixPool = ObjectOf<typeof InClusterPrefixPool>;

/** Prefixes for claims of all namespaces. */
export const GlobalInClusterPrefixPool = defineKind({
  ...shared,
  kind: "GlobalInClusterPrefixPool",
  admission: prefixPoolAdmission("GlobalInClusterPrefixPool"),
  plural: "globalinclusterprefixpools",
  scope: "Cluster",
  doc: "A pool of IPv6 prefixes for claims in all namespaces: each claim gets a network of its own.",
});
export type GlobalInClusterPrefixPool = ObjectOf<typeof GlobalInClusterPrefixPool>;
