import {
  type AddressRange,
  addressText,
  difference,
  networkOf,
  type ParsedRange,
  parseAddress,
  parseRange,
  union,
} from "./address-ranges.ts";

/** The fields of a pool's spec that define its addresses. */
export interface PoolSpec {
  addresses: readonly string[];
  prefix: number;
  gateway?: string;
  allocateReservedIPAddresses?: boolean;
  excludedAddresses?: readonly string[];
}

/** The addresses that a pool allocates. */
export interface PoolAddresses {
  family: 4 | 6;
  ranges: readonly AddressRange[];
  prefix: number;
  gateway?: string;
}

/** Why the spec of a pool is invalid. */
export interface PoolProblem {
  /** A sentence that starts with the field. */
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
  if (first === undefined) return problemAt("spec.addresses", "specify at least one address");
  const { family } = first;
  const gateway = spec.gateway === undefined || spec.gateway === "" ? undefined : parseAddress(spec.gateway);
  if (gateway === undefined && spec.gateway !== undefined && spec.gateway !== "")
    return problemAt("spec.gateway", `${spec.gateway} is not an IP address`);
  const foreign =
    foreignTo(family, addresses.ranges, spec.addresses, "spec.addresses") ??
    foreignTo(family, excluded.ranges, spec.excludedAddresses ?? [], "spec.excludedAddresses");
  if (foreign !== undefined) return foreign;
  if (gateway !== undefined && gateway.family !== family)
    return problemAt(
      "spec.gateway",
      `${spec.gateway} is not an IPv${family} address like spec.addresses: all must belong to one IP family`,
    );
  const bits = family === 4 ? 32 : 128;
  if (spec.prefix > bits) return problemAt("spec.prefix", `${spec.prefix} is longer than ${bits}`);
  const all = union(addresses.ranges);
  const network = networkOf(all[0]?.first ?? first.first, spec.prefix, family);
  const outside = addresses.ranges.findIndex(({ last }) => last > network.last);
  if (outside >= 0)
    return problemAt(
      `spec.addresses[${outside}]`,
      `${spec.addresses[outside]} is not within ${addressText(network.first, family)}/${spec.prefix}, the network of the lowest address by spec.prefix`,
    );
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

/** The first of some ranges that is not of the family of all. */
function foreignTo(
  family: 4 | 6,
  ranges: readonly ParsedRange[],
  texts: readonly string[],
  field: string,
): PoolProblem | undefined {
  const index = ranges.findIndex((range) => range.family !== family);
  if (index < 0) return undefined;
  return problemAt(
    `${field}[${index}]`,
    `${texts[index]} is not IPv${family} like spec.addresses[0]: all must belong to one IP family`,
  );
}

function parseAll(texts: readonly string[], field: string): { ranges: ParsedRange[] } | PoolProblem {
  const ranges: ParsedRange[] = [];
  for (const [index, text] of texts.entries()) {
    const range = parseRange(text);
    if (range === undefined)
      return problemAt(`${field}[${index}]`, `${text} is not an address, range such as 10.0.0.5-10.0.0.9 or CIDR`);
    ranges.push(range);
  }
  return { ranges };
}

/** What is wrong with a field of a pool. */
export function problemAt(field: string, detail: string): PoolProblem {
  return { field, problem: `${field}: ${detail}` };
}
