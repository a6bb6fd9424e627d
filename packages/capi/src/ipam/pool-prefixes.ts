import { parseCidrText } from "@capstan/apimachinery";
import { type AddressRange, difference, parseAddress, parseRange, union } from "./address-ranges.ts";
import { type PoolAddresses, type PoolProblem, problemAt } from "./pool-addresses.ts";

/** Length of the prefixes given away unless the pool says another. */
export const DEFAULT_PREFIX_LENGTH = 64;

const ADDRESS_BITS = 128;

/** What of a pool's spec says which prefixes it has. */
export interface PrefixPoolSpec {
  prefixes: readonly string[];
  allocationPrefixLength?: number;
  gateway?: string;
  excludedPrefixes?: readonly string[];
}

/** What a pool of prefixes can give away. */
export interface PoolPrefixes extends PoolAddresses {
  slotBits: number;
  /** Whether a holder of several slots counts for the first alone. */
  oneSlotEach?: boolean;
}

/** The prefixes a pool's spec describes, or what is wrong with it. A gateway keeps no prefix back: it is only passed on. */
export function poolPrefixes(spec: PrefixPoolSpec): PoolPrefixes | PoolProblem {
  const length = spec.allocationPrefixLength ?? DEFAULT_PREFIX_LENGTH;
  if (length < 1 || length > ADDRESS_BITS)
    return problemAt("spec.allocationPrefixLength", `${length} is not between 1 and ${ADDRESS_BITS}`);
  if (spec.prefixes.length === 0) return problemAt("spec.prefixes", "specify at least one prefix");
  const prefixes = parseAll(spec.prefixes, "spec.prefixes", (text) => parsePrefix(text, length));
  if ("problem" in prefixes) return prefixes;
  const excluded = parseAll(spec.excludedPrefixes ?? [], "spec.excludedPrefixes", parseExcluded);
  if ("problem" in excluded) return excluded;
  const gateway = spec.gateway === undefined || spec.gateway === "" ? undefined : spec.gateway;
  if (gateway !== undefined && parseAddress(gateway)?.family !== 6)
    return problemAt("spec.gateway", `${gateway} is not an IPv6 address`);
  const slotBits = ADDRESS_BITS - length;
  const slots = ({ first, last }: AddressRange): AddressRange => ({
    first: first >> BigInt(slotBits),
    last: last >> BigInt(slotBits),
  });
  return {
    family: 6,
    // An exclusion removes every prefix that it overlaps.
    ranges: difference(union(prefixes.ranges.map(slots)), union(excluded.ranges.map(slots))),
    slotBits,
    prefix: length,
    gateway,
  };
}

type Parsed = AddressRange | string;

function parsePrefix(text: string, length: number): Parsed {
  const cidr = parseCidrText(text);
  const range = cidr === undefined ? undefined : parseRange(text);
  if (cidr === undefined || range === undefined) return "is not an IPv6 prefix such as fd00::/48";
  if (range.family !== 6) return "is not an IPv6 prefix; only IPv6 prefixes are supported";
  if (parseAddress(text.slice(0, text.indexOf("/")))?.value !== range.first)
    return "has bits set after its prefix length; write the network's first address";
  return cidr.bits > length ? `is longer than the allocated prefixes, /${length}` : range;
}

function parseExcluded(text: string): Parsed {
  const range = parseRange(text);
  if (range === undefined) return "is not an address, range such as fd00::5-fd00::9 or prefix";
  return range.family === 6 ? range : "is not IPv6";
}

function parseAll(
  texts: readonly string[],
  field: string,
  parse: (text: string) => Parsed,
): { ranges: AddressRange[] } | PoolProblem {
  const ranges: AddressRange[] = [];
  for (const [index, text] of texts.entries()) {
    const parsed = parse(text);
    if (typeof parsed === "string") return problemAt(`${field}[${index}]`, `${text} ${parsed}`);
    ranges.push(parsed);
  }
  return { ranges };
}
