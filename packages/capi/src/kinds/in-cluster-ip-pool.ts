import { poolAdmission } from "../admission/addresses.ts";
import { conditions } from "../schema/common.ts";
import { defineKind, type ObjectOf, type PrinterColumnDefinition } from "../schema/kind.ts";
import { array, boolean, integer, object, optional, string } from "../schema/schema.ts";

const addresses = (doc: string) => array(string({ minLength: 1, maxLength: 87 }), { doc, maxItems: 1000 });

const spec = object({
  addresses: addresses("Addresses, ranges a-b and CIDRs, all of one family."),
  prefix: integer({ doc: "Length of the network's prefix; covers all addresses.", minimum: 0, maximum: 128 }),
  gateway: optional(string({ doc: "The network's gateway; never given away.", maxLength: 39 })),
  allocateReservedIPAddresses: optional(
    boolean({ doc: "Whether the network's first and (IPv4) last address are given away too." }),
  ),
  excludedAddresses: optional(addresses("What is never given away: addresses, ranges and CIDRs.")),
  addressReuseGracePeriodSeconds: optional(
    integer({ doc: "How long a returned address waits until it is given away again.", minimum: 0 }),
  ),
});

const count = (doc: string) => integer({ doc, format: "int64" });

const status = object({
  ipAddresses: optional(
    object({
      total: count("Addresses of the pool."),
      free: count("Addresses that can be given away."),
      used: count("Addresses given away."),
      outOfRange: count("Addresses given away that the pool no longer has."),
    }),
  ),
  conditions: optional(conditions),
});

const columns: PrinterColumnDefinition[] = [
  { name: "Addresses", type: "string", jsonPath: ".spec.addresses" },
  { name: "Total", type: "integer", jsonPath: ".status.ipAddresses.total" },
  { name: "Free", type: "integer", jsonPath: ".status.ipAddresses.free" },
  { name: "Used", type: "integer", jsonPath: ".status.ipAddresses.used" },
];

/** What both kinds of pools have. */
export const poolSchema = object({ spec, status: optional(status) });

const shared = {
  group: "ipam.cluster.x-k8s.io",
  version: "v1alpha2",
  contracts: { v1beta2: "v1alpha2" },
  schema: poolSchema,
  columns,
};

/** Addresses for claims of its own namespace. */
export const InClusterIPPool = defineKind({
  ...shared,
  kind: "InClusterIPPool",
  admission: poolAdmission("InClusterIPPool"),
  plural: "inclusterippools",
  doc: "A pool of addresses for claims in its namespace.",
});
export type InClusterIPPool = ObjectOf<typeof InClusterIPPool>;

/** Addresses for claims of all namespaces. */
export const GlobalInClusterIPPool = defineKind({
  ...shared,
  kind: "GlobalInClusterIPPool",
  admission: poolAdmission("GlobalInClusterIPPool"),
  plural: "globalinclusterippools",
  scope: "Cluster",
  doc: "A pool of addresses for claims in all namespaces.",
});
export type GlobalInClusterIPPool = ObjectOf<typeof GlobalInClusterIPPool>;
