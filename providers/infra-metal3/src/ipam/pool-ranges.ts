import {
  type AddressRange,
  contains,
  difference,
  type PoolRanges,
  parseAddress,
  parseRange,
  union,
} from "@capstan/capi";
import type { IPPoolSpec } from "../kinds/ip-pool.ts";

type Spec = IPPoolSpec;
type Entry = NonNullable<Spec["pools"]>[number];

/** Prefix, gateway and DNS servers of an address. */
export interface AddressFacts {
  prefix?: number;
  gateway?: string;
  dnsServers: readonly string[];
}

/** The addresses of an IPPool and their network settings. */
export interface Metal3PoolRanges extends PoolRanges {
  /** The network of an address; undefined when the pool does not have it. */
  factsOf(address: string): AddressFacts | undefined;
}

/** Parses the address ranges of an IPPool's spec, or returns what is invalid. */
export function poolRanges(spec: Spec): Metal3PoolRanges | { problem: string } {
  const entries: { range: AddressRange; entry: Entry }[] = [];
  const ranges: AddressRange[] = [];
  let family: 4 | 6 | undefined;
  for (const [index, entry] of (spec.pools ?? []).entries()) {
    const range = rangeOf(entry, `spec.pools[${index}]`);
    if ("problem" in range) return range;
    if (family !== undefined && family !== range.family)
      return { problem: `spec.pools[${index}]: all addresses of a pool must be of one family, IPv4 or IPv6` };
    family = range.family;
    entries.push({ range, entry });
    // An address that two entries have belongs to the first.
    ranges.push(...difference([range], union(ranges)));
  }
  const kept = new Map<string, string>();
  for (const [claim, address] of Object.entries(spec.preAllocations ?? {})) {
    const parsed = parseAddress(address);
    if (parsed === undefined || (family !== undefined && parsed.family !== family))
      return { problem: `spec.preAllocations[${claim}]: ${address} is not an address of the pool's family` };
    kept.set(claim, address);
  }
  return {
    family: family ?? 4,
    ranges,
    kept,
    factsOf: (address) => {
      const value = parseAddress(address)?.value;
      const found = entries.find(({ range }) => value !== undefined && contains([range], value));
      return found === undefined ? undefined : factsOf(found.entry, spec);
    },
  };
}

function factsOf(entry: Entry, spec: Spec): AddressFacts {
  const prefix = entry.prefix ?? spec.prefix;
  const gateway = entry.gateway ?? spec.gateway;
  return {
    prefix,
    gateway,
    dnsServers: entry.dnsServers ?? spec.dnsServers ?? [],
  };
}

/** From `start`, or the subnet's first address but one, to `end`, or the end of the subnet. */
function rangeOf(entry: Entry, path: string): (AddressRange & { family: 4 | 6 }) | { problem: string } {
  const subnet = entry.subnet === undefined ? undefined : parseRange(entry.subnet);
  if (entry.subnet !== undefined && (subnet === undefined || !entry.subnet.includes("/")))
    return { problem: `${path}.subnet: ${entry.subnet} is not a network such as 192.168.1.0/24` };
  const start = entry.start === undefined ? undefined : parseAddress(entry.start);
  if (entry.start !== undefined && start === undefined)
    return { problem: `${path}.start: ${entry.start} is not an IP address` };
  const end = entry.end === undefined ? undefined : parseAddress(entry.end);
  if (entry.end !== undefined && end === undefined)
    return { problem: `${path}.end: ${entry.end} is not an IP address` };
  const family = (start ?? subnet)?.family;
  if (family === undefined) return { problem: `${path}: set start or subnet` };
  if (end === undefined && subnet === undefined) return { problem: `${path}: set end or subnet` };
  if ((end?.family ?? family) !== family || (subnet?.family ?? family) !== family)
    return { problem: `${path}: start, end and subnet must be of one family, IPv4 or IPv6` };
  const first = start?.value ?? (subnet?.first ?? 0n) + 1n;
  const last = end?.value ?? subnet?.last ?? first;
  if (first > last) return { problem: `${path}: start is greater than end` };
  if (subnet !== undefined && (first < subnet.first || last > subnet.last))
    return { problem: `${path}: start and end must be within subnet ${entry.subnet}` };
  return { family, first, last };
}
