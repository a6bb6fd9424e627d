import { deepEqual, parseIpAddress } from "@capstan/apimachinery";
import type { schema as addressSchema } from "../kinds/ip-address.ts";
import type { schema as claimSchema } from "../kinds/ip-address-claim.ts";
import type { AdmissionKind, AdmissionProblem, KindAdmission, KindObject } from "../schema/kind.ts";
import type { Infer } from "../schema/schema.ts";
import { forbidden, invalid } from "./problems.ts";

type IPAddress = KindObject<Infer<typeof addressSchema>>;
type IPAddressClaim = KindObject<Infer<typeof claimSchema>>;

const CLAIMS: AdmissionKind = {
  group: "ipam.cluster.x-k8s.io",
  version: "v1beta2",
  kind: "IPAddressClaim",
  plural: "ipaddressclaims",
  namespaced: true,
};

function addressProblems(text: string | undefined, field: string): AdmissionProblem[] {
  if (text === undefined || text === "" || parseIpAddress(text) !== undefined) return [];
  return [invalid(field, text, "not a valid IP address")];
}

/** IPAddress: upstream's rules. */
export const ipAddressAdmission: KindAdmission<IPAddress> = {
  validate: ({ spec }, old) => {
    if (old !== undefined) return deepEqual(old.spec, spec) ? [] : [forbidden("spec", "IPAddress spec is immutable")];
    const isV4 = parseIpAddress(spec.address)?.length === 4;
    return [
      ...addressProblems(spec.address, "spec.address"),
      ...(isV4 && spec.prefix > 32
        ? [invalid("spec.prefix", spec.prefix, "prefix is too large for an IPv4 address")]
        : []),
      ...addressProblems(spec.gateway, "spec.gateway"),
    ];
  },
  check: async ({ metadata, spec }, old, lookup) => {
    if (old !== undefined) return [];
    const claim = await lookup.get(CLAIMS, metadata.namespace ?? "", spec.claimRef.name);
    const pool = (claim as IPAddressClaim | undefined)?.spec.poolRef;
    if (pool === undefined || deepEqual(pool, spec.poolRef)) return [];
    const detail = "the referenced pool is different from the pool referenced by the claim this address should fulfill";
    return [invalid("spec.poolRef", spec.poolRef, detail)];
  },
};

/** IPAddressClaim: upstream's rules. */
export const ipAddressClaimAdmission: KindAdmission<IPAddressClaim> = {
  validate: ({ spec }, old) =>
    old === undefined || deepEqual(old.spec, spec) ? [] : [forbidden("spec", "IPAddressClaim spec is immutable")],
};
