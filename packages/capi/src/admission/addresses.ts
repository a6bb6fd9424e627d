import { deepEqual, parseIpAddress } from "@capstan/apimachinery";
import { contains, parseAddress } from "../ipam/address-ranges.ts";
import { poolAddresses } from "../ipam/pool-addresses.ts";
import type { poolSchema } from "../kinds/in-cluster-ip-pool.ts";
import type { schema as addressSchema } from "../kinds/ip-address.ts";
import type { schema as claimSchema } from "../kinds/ip-address-claim.ts";
import type { AdmissionKind, AdmissionLookup, AdmissionProblem, KindAdmission, KindObject } from "../schema/kind.ts";
import type { Infer } from "../schema/schema.ts";
import { forbidden, invalid } from "./problems.ts";

type IPAddress = KindObject<Infer<typeof addressSchema>>;
type IPAddressClaim = KindObject<Infer<typeof claimSchema>>;
type Pool = KindObject<Infer<typeof poolSchema>>;

/** Deleting a pool in use is allowed with this. */
const SKIP_DELETE_CHECK_ANNOTATION = "ipam.cluster.x-k8s.io/skip-validate-delete-webhook";

/** Addresses that a refusal names. */
const MAX_NAMED = 5;

const IPAM = { group: "ipam.cluster.x-k8s.io", version: "v1beta2", namespaced: true };
const ADDRESSES: AdmissionKind = { ...IPAM, kind: "IPAddress", plural: "ipaddresses" };
const CLAIMS: AdmissionKind = { ...IPAM, kind: "IPAddressClaim", plural: "ipaddressclaims" };

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

/** Pools: what no controller could make sense of is refused at once; pools in use are kept. */
export function poolAdmission(kind: string): KindAdmission<Pool> {
  return {
    validate: ({ spec }) => {
      const pool = poolAddresses(spec);
      return "problem" in pool ? [invalid(pool.field, spec, pool.problem)] : [];
    },
    check: async ({ metadata, spec }, old, lookup) => {
      if (old === undefined || deepEqual(old.spec, spec)) return [];
      const lost = outsideOf(spec, await addressesOf(kind, metadata, lookup));
      if (lost.length === 0) return [];
      const shown =
        lost.slice(0, MAX_NAMED).join(", ") + (lost.length > MAX_NAMED ? ` and ${lost.length - MAX_NAMED} more` : "");
      return [invalid("spec.addresses", spec.addresses, `pool addresses do not contain allocated addresses: ${shown}`)];
    },
    checkDelete: async ({ metadata }, lookup) => {
      if (metadata.annotations?.[SKIP_DELETE_CHECK_ANNOTATION] !== undefined) return [];
      const count = (await addressesOf(kind, metadata, lookup)).length;
      if (count === 0) return [];
      const detail = `${count} address(es) of the pool are in use; delete their IPAddressClaims first, or set the annotation ${SKIP_DELETE_CHECK_ANNOTATION}`;
      return [forbidden("metadata.name", detail)];
    },
  };
}

/** Addresses that were given out from a pool. */
async function addressesOf(kind: string, metadata: Pool["metadata"], lookup: AdmissionLookup): Promise<string[]> {
  const used = (await lookup.list(ADDRESSES, metadata.namespace)) as readonly IPAddress[];
  return used
    .filter(
      ({ spec: { poolRef } }) =>
        poolRef.apiGroup === IPAM.group && poolRef.kind === kind && poolRef.name === metadata.name,
    )
    .map(({ spec }) => spec.address);
}

/** Those that a pool would not give out any more. */
function outsideOf(spec: Pool["spec"], addresses: readonly string[]): string[] {
  const pool = poolAddresses(spec);
  if ("problem" in pool) return [];
  return addresses
    .filter((text) => {
      const address = parseAddress(text);
      return address !== undefined && !(address.family === pool.family && contains(pool.ranges, address.value));
    })
    .sort();
}
