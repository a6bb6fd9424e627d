import {
  type AddressRange,
  difference,
  networkOf,
  type ParsedRange,
  parseAddress,
  parseRange,
  union,
} from "./address-ranges.ts";

/** What of a pool's spec says which addresses it has. */
export interface PoolSpec {
  addresses: readonly string[];
  prefix: number;
  gateway?: string;
  allocateReservedIPAddresses?: boolean;
  excludedAddresses?: readonly string[];
}

/** What a pool can give away. */
export interface PoolAddresses {
  family: 4 | 6;
  ranges: readonly AddressRange[];
  prefix: number;
  gateway?: string;
}

/** Why a pool has none. */
export interface PoolProblem {
  /** A sentence that begins with the field. */
  problem: string;
  field: string;
}

/** The addresses a pool's spec describes, or what is wrong with it. */
export function poolAddresses(spec: PoolSpec): PoolAddresses | PoolProblem {
  const addresses = parseAll(spec.addresses, "spec.addresses");
  if ("problem" in addresses) return addresses;
  const excluded = parseAll(spec.excludedAddresses ?? [], "spec.excludedAddresses");
  if ("problem" in excluded) return excluded;
  const first = addresses.ranges[0];
  if (first === undefined) return problemAt("spec.addresses", "name at least one address");
  const { family } = first;
  const gateway = spec.gateway === undefined || spec.gateway === "" ? undefined : parseAddress(spec.gateway);
  if (gateway === undefined && spec.gateway !== undefined && spec.gateway !== "")
    return problemAt("spec.gateway", `${spec.gateway} is no IP address`);
  if ([...addresses.ranges, ...excluded.ranges, gateway ?? first].some((range) => range.family !== family))
    return problemAt("spec", "addresses, exclusions and gateway must be of one family, IPv4 or IPv6");
  const bits = family === 4 ? 32 : 128;
  if (spec.prefix > bits) return problemAt("spec.prefix", `${spec.prefix} is longer than ${bits}`);
  const all = union(addresses.ranges);
  const lowest = all[0]?.first ?? first.first;
  const network = networkOf(lowest, spec.prefix, family);
  if ((all.at(-1)?.last ?? first.last) > network.last)
    return problemAt("spec.prefix", `/${spec.prefix} does not cover all addresses`);
  const held: AddressRange[] = [...excluded.ranges];
  if (gateway !== undefined) held.push({ first: gateway.value, last: gateway.value });
  if (spec.allocateReservedIPAddresses !== true) {
    held.push({ first: network.first, last: network.first });
    if (family === 4) held.push({ first: network.last, last: network.last });
  }
  return {
    family,
    ranges: difference(all, union(held)),
    prefix: spec.prefix,
    ...(spec.gateway === undefined || spec.gateway === "" ? {} : { gateway: spec.gateway }),
  };
}

function parseAll(texts: readonly string[], field: string): { ranges: ParsedRange[] } | PoolProblem {
  const ranges: ParsedRange[] = [];
  for (const [index, text] of texts.entries()) {
    const range = parseRange(text);
    if (range === undefined)
      return problemAt(`${field}[${index}]`, `${text} is no address, range such as 10.0.0.5-10.0.0.9 or CIDR`);
    ranges.push(range);
  }
  return { ranges };
}

/** What is wrong with a field of a pool. */
export function problemAt(field: string, detail: string): PoolProblem {
  return { field, problem: `${field}: ${detail}` };
}
