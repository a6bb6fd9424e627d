import {
  type AddressRange,
  difference,
  type InClusterIPPool,
  networkOf,
  type ParsedRange,
  parseAddress,
  parseRange,
  union,
} from "@capstan/capi";

/** What a pool can give away. */
export interface PoolAddresses {
  family: 4 | 6;
  ranges: readonly AddressRange[];
  prefix: number;
  gateway?: string;
}

/** The addresses a pool's spec describes, or what is wrong with it. */
export function poolAddresses(spec: InClusterIPPool["spec"]): PoolAddresses | { problem: string } {
  const addresses = parseAll(spec.addresses, "spec.addresses");
  if ("problem" in addresses) return addresses;
  const excluded = parseAll(spec.excludedAddresses ?? [], "spec.excludedAddresses");
  if ("problem" in excluded) return excluded;
  const first = addresses.ranges[0];
  if (first === undefined) return { problem: "spec.addresses: name at least one address" };
  const { family } = first;
  const gateway = spec.gateway === undefined || spec.gateway === "" ? undefined : parseAddress(spec.gateway);
  if (gateway === undefined && spec.gateway !== undefined && spec.gateway !== "")
    return { problem: `spec.gateway: ${spec.gateway} is no IP address` };
  if ([...addresses.ranges, ...excluded.ranges, gateway ?? first].some((range) => range.family !== family))
    return { problem: "spec: addresses, exclusions and gateway must be of one family, IPv4 or IPv6" };
  const bits = family === 4 ? 32 : 128;
  if (spec.prefix > bits) return { problem: `spec.prefix: ${spec.prefix} is longer than ${bits}` };
  const all = union(addresses.ranges);
  const lowest = all[0]?.first ?? first.first;
  const network = networkOf(lowest, spec.prefix, family);
  if ((all.at(-1)?.last ?? first.last) > network.last)
    return { problem: `spec.prefix: /${spec.prefix} does not cover all addresses` };
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

function parseAll(texts: readonly string[], field: string): { ranges: ParsedRange[] } | { problem: string } {
  const ranges: ParsedRange[] = [];
  for (const [index, text] of texts.entries()) {
    const range = parseRange(text);
    if (range === undefined)
      return { problem: `${field}[${index}]: ${text} is no address, range such as 10.0.0.5-10.0.0.9 or CIDR` };
    ranges.push(range);
  }
  return { ranges };
}
