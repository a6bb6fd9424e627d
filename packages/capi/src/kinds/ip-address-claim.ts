import { clusterName, conditions, objectName } from "../schema/common.ts";
import { defineKind, type ObjectOf } from "../schema/kind.ts";
import { object, optional } from "../schema/schema.ts";
import { ageColumn } from "./columns.ts";
import { poolColumns, poolReference } from "./ip-address.ts";
import { deprecatedConditions } from "./shared-status.ts";

const status = object(
  {
    addressRef: optional(object({ name: objectName("Name of the IPAddress.") })),
    conditions: optional(conditions),
    deprecated: optional(deprecatedConditions),
  },
  { minProperties: 1 },
);

/** Asks a pool for an address. */
export const IPAddressClaim = defineKind({
  group: "ipam.cluster.x-k8s.io",
  version: "v1beta2",
  kind: "IPAddressClaim",
  plural: "ipaddressclaims",
  doc: "Asks a pool for one address.",
  contracts: { v1beta2: "v1beta2" },
  schema: object({
    spec: object({ clusterName: optional(clusterName), poolRef: poolReference }),
    status: optional(status),
  }),
  columns: [...poolColumns, ageColumn],
});
export type IPAddressClaim = ObjectOf<typeof IPAddressClaim>;
