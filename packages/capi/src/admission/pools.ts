import { deepEqual } from "@capstan/apimachinery";
import { contains, parseAddress, parseRange } from "../ipam/address-ranges.ts";
import { type PoolProblem, poolAddresses } from "../ipam/pool-addresses.ts";
import { DEFAULT_PREFIX_LENGTH, poolPrefixes } from "../ipam/pool-prefixes.ts";
import { coverOf, type PoolRanges } from "../ipam/slots.ts";
import type { poolSchema } from "../kinds/in-cluster-ip-pool.ts";
import type { prefixPoolSchema } from "../kinds/in-cluster-prefix-pool.ts";
import type { schema as addressSchema } from "../kinds/ip-address.ts";
import type { AdmissionKind, AdmissionLookup, AdmissionProblem, KindAdmission, KindObject } from "../schema/kind.ts";
import type { Infer } from "../schema/schema.ts";
import { forbidden, invalid } from "./problems.ts";

type IPAddress = KindObject<Infer<typeof addressSchema>>;
type Pool = KindObject<Infer<typeof poolSchema>>;
type PrefixPool = KindObject<Infer<typeof prefixPoolSchema>>;

/** Deleting a pool in use is allowed with this. */
const SKIP_DELETE_CHECK_ANNOTATION = "ipam.cluster.x-k8s.io/skip-validate-delete-webhook";

/** Maximum number of addresses that an error names. */
const MAX_NAMED = 5;

const ADDRESSES: AdmissionKind = {
  group: "ipam.cluster.x-k8s.io",
  version: "v1beta2",
  kind: "IPAddress",
  plural: "ipaddresses",
  namespaced: true,
};

/** Pools of addresses: invalid ones are rejected immediately, and pools in use cannot be deleted. */
export function poolAdmission(kind: string): KindAdmission<Pool> {
  return rulesOf<Pool>(kind, {
    read: poolAddresses,
    field: "spec.addresses",
    has: ({ addresses }) => addresses,
    given: ({ spec }) => spec.address,
    lost: "pool addresses do not contain allocated addresses",
  });
}

/** Pools of prefixes: the same, and the length of allocated prefixes is immutable. */
export function prefixPoolAdmission(kind: string): KindAdmission<PrefixPool> {
  const rules = rulesOf<PrefixPool>(kind, {
    read: poolPrefixes,
    field: "spec.prefixes",
    has: ({ prefixes }) => prefixes,
    given: ({ spec }) => `${spec.address}/${spec.prefix}`,
    lost: "existing allocations become non-allocatable",
  });
  return {
    ...rules,
    // As upstream: zero, as clients of other languages serialize an unset field, is the default too.
    default: ({ spec }) => {
      spec.allocationPrefixLength ||= DEFAULT_PREFIX_LENGTH;
    },
    validate: (pool, old) => {
      const found = rules.validate(pool);
      const length = pool.spec.allocationPrefixLength;
      if (found.length > 0 || old === undefined || old.spec.allocationPrefixLength === length) return found;
      return [invalid("spec.allocationPrefixLength", length, "field is immutable")];
    },
    warnings: async ({ spec }) => prefixPoolWarnings(spec),
  };
}

function prefixPoolWarnings({ allocationPrefixLength, gateway, prefixes }: PrefixPool["spec"]): string[] {
  if (allocationPrefixLength !== 128) return [];
  const single =
    "spec.allocationPrefixLength=128 allocates single addresses; use an InClusterIPPool for those, which reserves the gateway";
  const address = parseAddress(gateway ?? "");
  const inside = prefixes.some((text) => {
    const range = parseRange(text);
    return address?.family === range?.family && address !== undefined && contains(range ? [range] : [], address.value);
  });
  return inside ? [single, "spec.gateway is within spec.prefixes and may be allocated to a claim"] : [single];
}

interface PoolRules<P extends Pool | PrefixPool> {
  read(spec: P["spec"]): PoolRanges | PoolProblem;
  /** The field that lists the pool's addresses. */
  field: string;
  has(spec: P["spec"]): readonly string[];
  /** What an IPAddress holds, as the pool's text. */
  given(address: IPAddress): string;
  /** Returns the error for a pool that would lose addresses in use. */
  lost: string;
}

function rulesOf<P extends Pool | PrefixPool>(kind: string, { read, field, has, given, lost }: PoolRules<P>) {
  const heldOf = async (metadata: P["metadata"], lookup: AdmissionLookup): Promise<IPAddress[]> => {
    const all = (await lookup.list(ADDRESSES, metadata.namespace)) as readonly IPAddress[];
    return all.filter(
      ({ spec: { poolRef } }) =>
        poolRef.apiGroup === ADDRESSES.group && poolRef.kind === kind && poolRef.name === metadata.name,
    );
  };
  return {
    validate: ({ spec }) => {
      const pool = read(spec);
      return "problem" in pool ? [invalid(pool.field, spec, pool.problem)] : [];
    },
    check: async ({ metadata, spec }, old, lookup): Promise<AdmissionProblem[]> => {
      if (old === undefined || deepEqual(old.spec, spec)) return [];
      const texts = outsideOf(read(spec), (await heldOf(metadata, lookup)).map(given));
      if (texts.length === 0) return [];
      const more = texts.length > MAX_NAMED ? ` and ${texts.length - MAX_NAMED} more` : "";
      return [invalid(field, has(spec), `${lost}: ${texts.slice(0, MAX_NAMED).join(", ")}${more}`)];
    },
    checkDelete: async ({ metadata }, lookup) => {
      if (metadata.annotations?.[SKIP_DELETE_CHECK_ANNOTATION] !== undefined) return [];
      const count = (await heldOf(metadata, lookup)).length;
      if (count === 0) return [];
      const detail = `${count} address(es) of the pool are in use; delete their IPAddressClaims first, or set the annotation ${SKIP_DELETE_CHECK_ANNOTATION}`;
      return [forbidden("metadata.name", detail)];
    },
  } satisfies KindAdmission<P>;
}

/** Returns the addresses that a pool would no longer contain. */
function outsideOf(pool: PoolRanges | PoolProblem, texts: readonly string[]): string[] {
  if ("problem" in pool) return [];
  const ranges = [...pool.ranges].sort((a, b) => (a.first < b.first ? -1 : 1));
  return texts
    .filter((text) => {
      const { first, exact } = coverOf(text, pool);
      return !(exact && contains(ranges, first));
    })
    .sort();
}
