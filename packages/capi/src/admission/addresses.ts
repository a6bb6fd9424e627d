import { deepEqual, parseCidrText, parseIpAddress } from "@capstan/apimachinery";
import type { poolSchema } from "../kinds/in-cluster-ip-pool.ts";
import type { schema as addressSchema } from "../kinds/ip-address.ts";
import type { schema as claimSchema } from "../kinds/ip-address-claim.ts";
import type { AdmissionKind, AdmissionProblem, KindAdmission, KindObject } from "../schema/kind.ts";
import type { Infer } from "../schema/schema.ts";
import { forbidden, invalid } from "./problems.ts";

type IPAddress = KindObject<Infer<typeof addressSchema>>;
type IPAddressClaim = KindObject<Infer<typeof claimSchema>>;
type Pool = KindObject<Infer<typeof poolSchema>>;

/** Deleting a pool in use is allowed with this. */
const SKIP_DELETE_CHECK_ANNOTATION = "ipam.cluster.x-k8s.io/skip-validate-delete-webhook";

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
    validate: ({ spec }) => [
      ...rangesProblems(spec.addresses, "spec.addresses"),
      ...rangesProblems(spec.excludedAddresses ?? [], "spec.excludedAddresses"),
      ...addressProblems(spec.gateway, "spec.gateway"),
      ...familyProblems(spec),
    ],
    checkDelete: async ({ metadata }, lookup) => {
      if (metadata.annotations?.[SKIP_DELETE_CHECK_ANNOTATION] !== undefined) return [];
      const namespace = metadata.namespace;
      const used = (await lookup.list(ADDRESSES, namespace)) as readonly IPAddress[];
      const count = used.filter(({ spec }) => spec.poolRef.kind === kind && spec.poolRef.name === metadata.name).length;
      if (count === 0) return [];
      const detail = `${count} address(es) of the pool are in use; delete their IPAddressClaims first, or set the annotation ${SKIP_DELETE_CHECK_ANNOTATION}`;
      return [forbidden("metadata.name", detail)];
    },
  };
}

function rangesProblems(texts: readonly string[], field: string): AdmissionProblem[] {
  return texts.flatMap((text, index) =>
    families(text) === undefined
      ? [invalid(`${field}[${index}]`, text, "must be an address, a range such as 10.0.0.5-10.0.0.9, or a CIDR")]
      : [],
  );
}

/** Address lengths in bytes of both ends, or undefined when it is neither address, range nor CIDR. */
function families(text: string): number[] | undefined {
  if (text.includes("/")) {
    const cidr = parseCidrText(text);
    return cidr === undefined ? undefined : [cidr.address.length];
  }
  const ends = text.split("-").map((end) => parseIpAddress(end.trim())?.length);
  return ends.length <= 2 && ends.every((length) => length !== undefined) ? ends : undefined;
}

function familyProblems(spec: Pool["spec"]): AdmissionProblem[] {
  const lengths = new Set(
    [...spec.addresses, ...(spec.excludedAddresses ?? [])].flatMap((text) => families(text) ?? []),
  );
  if (lengths.size > 1) return [invalid("spec.addresses", spec.addresses, "must all be of one family, IPv4 or IPv6")];
  return lengths.has(4) && spec.prefix > 32
    ? [invalid("spec.prefix", spec.prefix, "prefix is too large for IPv4 addresses")]
    : [];
}
