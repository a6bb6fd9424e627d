import { array, defineKind, integer, type ObjectOf, object, optional, string } from "@capstan/capi";
import { objectReference } from "./bare-metal-host-parts.ts";
import { METAL3_IPAM_GROUP } from "./ip-pool.ts";
import { AGE_COLUMN, CLUSTER_COLUMN } from "./metal3-shared.ts";

const address = (doc: string) => string({ doc, minLength: 1, maxLength: 45 });

/** An address of an IPPool that is allocated to an IPClaim. */
export const Metal3IPAddress = defineKind({
  group: METAL3_IPAM_GROUP,
  version: "v1alpha1",
  kind: "IPAddress",
  plural: "ipaddresses",
  shortNames: ["ipa", "ipaddress", "m3ipa", "m3ipaddress", "metal3ipa", "metal3ipaddress"],
  categories: ["metal3"],
  doc: "An address that an IPPool has allocated to an IPClaim.",
  status: false,
  schema: object({
    spec: object(
      {
        claim: objectReference("The IPClaim."),
        pool: objectReference("The IPPool."),
        address: address("The address."),
        prefix: optional(integer({ doc: "Length of the network's prefix.", minimum: 0, maximum: 128 })),
        gateway: optional(address("The network's gateway.")),
        dnsServers: optional(array(address("A server."), { doc: "DNS servers.", maxItems: 32 })),
      },
      {
        doc: "Desired state of the IPAddress.",
        rules: [{ rule: "self == oldSelf", message: "an address cannot change" }],
      },
    ),
  }),
  columns: [{ name: "Address", type: "string", jsonPath: ".spec.address" }, CLUSTER_COLUMN, AGE_COLUMN],
});
export type Metal3IPAddress = ObjectOf<typeof Metal3IPAddress>;
