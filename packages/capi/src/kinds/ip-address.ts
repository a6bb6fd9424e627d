import { ipAddressAdmission } from "../admission/addresses.ts";
import { ipAddressV1Beta1 } from "../conversion/others.ts";
import { v1beta1 } from "../conversion/v1beta1.ts";
import { contractReference, objectName } from "../schema/common.ts";
import { defineKind, type ObjectOf, type PrinterColumnDefinition } from "../schema/kind.ts";
import { documented, integer, object, optional, string } from "../schema/schema.ts";
import { ageColumn } from "./columns.ts";

/** Schema of the reference to the pool that an address comes from; immutable. */
export const poolReference = documented(contractReference, "The pool that the address comes from; immutable.");

/** Printer columns that IPAddress and IPAddressClaim share: name and kind of the pool. */
export const poolColumns: readonly PrinterColumnDefinition[] = [
  { name: "Pool Name", type: "string", jsonPath: ".spec.poolRef.name" },
  { name: "Pool Kind", type: "string", jsonPath: ".spec.poolRef.kind" },
];

/** The v1beta2 schema of an IPAddress's spec; the v1beta1 schema is derived from it. */
export const schema = object({
  spec: object(
    {
      claimRef: object(
        { name: objectName("Name of the IPAddressClaim.") },
        { doc: "Reference to the IPAddressClaim that the address is allocated to." },
      ),
      poolRef: poolReference,
      address: string({ doc: "The address.", minLength: 1, maxLength: 39 }),
      prefix: integer({ doc: "Prefix length of the network.", minimum: 0, maximum: 128 }),
      gateway: optional(string({ doc: "Gateway of the network.", minLength: 1, maxLength: 39 })),
    },
    { doc: "Desired state of the IPAddress." },
  ),
});

/** An IP address that a pool allocated to the IPAddressClaim of the same name. */
export const IPAddress = defineKind({
  group: "ipam.cluster.x-k8s.io",
  version: "v1beta2",
  kind: "IPAddress",
  plural: "ipaddresses",
  doc: "An address that a pool allocated to the IPAddressClaim of the same name.",
  contracts: { v1beta1: "v1beta1", v1beta2: "v1beta2" },
  status: false,
  schema,
  others: [v1beta1("ipam.cluster.x-k8s.io", "IPAddress", schema, ipAddressV1Beta1)],
  admission: ipAddressAdmission,
  columns: [{ name: "Address", type: "string", jsonPath: ".spec.address" }, ...poolColumns, ageColumn],
});
export type IPAddress = ObjectOf<typeof IPAddress>;
