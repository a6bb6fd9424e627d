import { ipAddressClaimAdmission } from "../admission/addresses.ts";
import { ipAddressClaimV1Beta1 } from "../conversion/others.ts";
import { v1beta1 } from "../conversion/v1beta1.ts";
import { clusterName, conditions, objectName } from "../schema/common.ts";
import { defineKind, type ObjectOf } from "../schema/kind.ts";
import { object, optional } from "../schema/schema.ts";
import { ageColumn } from "./columns.ts";
import { poolColumns, poolReference } from "./ip-address.ts";
import { deprecatedConditions } from "./shared-status.ts";

const status = object(
  {
    addressRef: optional(
      object(
        { name: objectName("Name of the IPAddress.") },
        { doc: "Reference to the IPAddress that was allocated to the claim." },
      ),
    ),
    conditions: optional(conditions),
    deprecated: optional(deprecatedConditions),
  },
  { doc: "Observed state of the IPAddressClaim.", minProperties: 1 },
);

/** The v1beta2 schema of an IPAddressClaim's spec and status; the v1beta1 schema is derived from it. */
export const schema = object({
  spec: object(
    { clusterName: optional(clusterName), poolRef: poolReference },
    { doc: "Desired state of the IPAddressClaim." },
  ),
  status: optional(status),
});

/** Requests an IP address from a pool. */
export const IPAddressClaim = defineKind({
  group: "ipam.cluster.x-k8s.io",
  version: "v1beta2",
  kind: "IPAddressClaim",
  plural: "ipaddressclaims",
  doc: "Requests one address from a pool.",
  contracts: { v1beta1: "v1beta1", v1beta2: "v1beta2" },
  schema,
  others: [v1beta1("ipam.cluster.x-k8s.io", "IPAddressClaim", schema, ipAddressClaimV1Beta1)],
  admission: ipAddressClaimAdmission,
  columns: [...poolColumns, ageColumn],
});
export type IPAddressClaim = ObjectOf<typeof IPAddressClaim>;
