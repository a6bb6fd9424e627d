import { formatIpAddress, parseCidrText, parseIpAddress } from "@capstan/apimachinery";

/** Addresses from `first` to `last`, both included, as numbers. */
export interface AddressRange {
  first: bigint;
  last: bigint;
}

/** Addresses of one family. */
export interface ParsedRange extends AddressRange {
  family: 4 | 6;
}

/** Parses an address, a range `a-b` or a CIDR; undefined when it is none of them. */
export function parseRange(text: string): ParsedRange | undefined {
  if (text.includes("/")) return parseCidr(text);
  const [from = "", to, ...rest] = text.split("-");
  const first = parseAddress(from);
  const last = to === undefined ? first : parseAddress(to);
  if (first === undefined || last === undefined || rest.length > 0) return undefined;
  return first.family === last.family && first.value <= last.value
    ? { family: first.family, first: first.value, last: last.value }
    : undefined;
}

/** An address as a number. */
export function parseAddress(text: string): { family: 4 | 6; value: bigint } | undefined {
  const bytes = parseIpAddress(text);
  if (bytes === undefined) return undefined;
  return { family: bytes.length === 4 ? 4 : 6, value: toNumber(bytes) };
}

/** The text of an address. */
export function addressText(value: bigint, family: 4 | 6): string {
  const bytes = new Uint8Array(family === 4 ? 4 : 16);
  let rest = value;
  for (let i = bytes.length - 1; i >= 0; i--) {
    bytes[i] = Number(rest & 0xffn);
    rest >>= 8n;
  }
  return formatIpAddress(bytes);
}

/** The network of a length that an address lies in. */
export function networkOf(address: bigint, prefix: number, family: 4 | 6): AddressRange {
  const hostBits = BigInt((family === 4 ? 32 : 128) - prefix);
  const first = (address >> hostBits) << hostBits;
  return { first, last: first + (1n << hostBits) - 1n };
}

function parseCidr(text: string): ParsedRange | undefined {
  const parsed = parseCidrText(text);
  if (parsed === undefined) return undefined;
  const family = parsed.address.length === 4 ? 4 : 6;
  return { family, ...networkOf(toNumber(parsed.address), parsed.bits, family) };
}

function toNumber(bytes: Uint8Array): bigint {
  let value = 0n;
  for (const byte of bytes) value = (value << 8n) | BigInt(byte);
  return value;
}

/** Sorted ranges that neither overlap nor touch. */
export function union(ranges: readonly AddressRange[]): AddressRange[] {
  const sorted = [...ranges].sort((a, b) => (a.first < b.first ? -1 : a.first > b.first ? 1 : 0));
  const merged: AddressRange[] = [];
  for (const range of sorted) {
    const previous = merged.at(-1);
    if (previous === undefined || range.first > previous.last + 1n) merged.push({ ...range });
    else if (range.last > previous.last) previous.last = range.last;
  }
  return merged;
}

/** What is in the first and not in the second; both as `union` gives them. */
export function difference(from: readonly AddressRange[], without: readonly AddressRange[]): AddressRange[] {
  const left: AddressRange[] = [];
  let next = 0;
  for (const range of from) {
    let { first } = range;
    while ((without[next]?.last ?? range.first) < first && next < without.length) next++;
    for (let i = next; i < without.length; i++) {
      const hole = without[i];
      if (hole === undefined || hole.first > range.last) break;
      if (hole.first > first) left.push({ first, last: hole.first - 1n });
      if (hole.last >= first) first = hole.last + 1n;
    }
    if (first <= range.last) left.push({ first, last: range.last });
  }
  return left;
}

/** How many addresses there are. */
export function countOf(ranges: readonly AddressRange[]): bigint {
  return ranges.reduce((sum, { first, last }) => sum + last - first + 1n, 0n);
}

/** Whether an address is in one of the sorted ranges; logarithmic in their number. */
export function contains(ranges: readonly AddressRange[], address: bigint): boolean {
  let low = 0;
  let high = ranges.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const range = ranges[middle];
    if (range === undefined) return false;
    if (address < range.first) high = middle - 1;
    else if (address > range.last) low = middle + 1;
    else return true;
  }
  return false;
}
