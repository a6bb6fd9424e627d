import { type IpBytes, isIpv4Mapped, parseCidrText, parseIpAddress } from "../schema/ip-address.ts";

/** A range of addresses, and a port if only that one is meant. */
export interface AddressRange {
  readonly address: IpBytes;
  readonly bits: number;
  readonly port?: number | undefined;
}

/** The bytes of an address without its zone; one that only wraps IPv4 is that IPv4 address. */
export function addressBytes(text: string): IpBytes | undefined {
  const zone = text.indexOf("%");
  const bytes = parseIpAddress(zone < 0 ? text : text.slice(0, zone));
  return bytes !== undefined && isIpv4Mapped(bytes) ? bytes.subarray(12) : bytes;
}

/** Reads `CIDR`, `CIDR:PORT`, `ADDRESS` or `ADDRESS:PORT`; IPv6 with a port is written `[fd00::/8]:443`. Undefined for anything else. */
export function parseAddressRange(text: string): AddressRange | undefined {
  const match = /^\[([^\]]+)\](?::(\d{1,5}))?$/.exec(text) ?? /^([^:]+):(\d{1,5})$/.exec(text);
  const [range = text, port] = match === null ? [] : [match[1], match[2]];
  if (port !== undefined && (Number(port) < 1 || Number(port) > 65_535)) return undefined;
  const plain = parseIpAddress(range);
  const found = plain === undefined ? parseCidrText(range) : { address: plain, bits: plain.length * 8 };
  if (found === undefined) return undefined;
  const wraps = isIpv4Mapped(found.address) && found.bits >= 96;
  return {
    address: wraps ? found.address.subarray(12) : found.address,
    bits: wraps ? found.bits - 96 : found.bits,
    ...(port === undefined ? {} : { port: Number(port) }),
  };
}

/** Whether an address lies in a range. */
export function isIn(bytes: IpBytes, { address, bits }: Pick<AddressRange, "address" | "bits">): boolean {
  if (bytes.length !== address.length) return false;
  for (let i = 0; i * 8 < bits; i++) {
    const left = Math.min(8, bits - i * 8);
    if (((bytes[i] ?? 0) ^ (address[i] ?? 0)) >> (8 - left) !== 0) return false;
  }
  return true;
}

/** Metadata services, where clouds hand out credentials to machines. */
const METADATA = "the address of a cloud's metadata service";

const CLASSES: readonly (readonly [string, string])[] = [
  ["0.0.0.0/8", "an unspecified address"],
  ["127.0.0.0/8", "a loopback address"],
  ["169.254.0.0/16", "a link-local address"],
  ["224.0.0.0/4", "a multicast address"],
  ["255.255.255.255/32", "a broadcast address"],
  ["100.100.100.200/32", METADATA],
  ["168.63.129.16/32", METADATA],
  ["192.0.0.192/32", METADATA],
  ["::/128", "an unspecified address"],
  ["::1/128", "a loopback address"],
  ["fe80::/10", "a link-local address"],
  ["ff00::/8", "a multicast address"],
  ["fd00:ec2::254/128", METADATA],
  ["fd20:ce::254/128", METADATA],
];
const RANGES = CLASSES.flatMap(([text, title]) => {
  const range = parseAddressRange(text);
  return range === undefined ? [] : [{ range, title }];
});

/**
 * IPv6 addresses that gateways turn into the IPv4 address inside them: where its bytes are. NAT64 (RFC 6052) leaves byte 8 out, and its
 * prefix for local use (RFC 8215) may have any of these lengths.
 */
const TRANSLATED: readonly (readonly [string, readonly number[]])[] = [
  ["::/96", [12, 13, 14, 15]],
  ["::ffff:0:0:0/96", [12, 13, 14, 15]],
  ["64:ff9b::/96", [12, 13, 14, 15]],
  ["64:ff9b:1::/48", [6, 7, 9, 10]],
  ["64:ff9b:1::/48", [7, 9, 10, 11]],
  ["64:ff9b:1::/48", [9, 10, 11, 12]],
  ["64:ff9b:1::/48", [12, 13, 14, 15]],
  ["2002::/16", [2, 3, 4, 5]],
];
const TRANSLATIONS = TRANSLATED.flatMap(([text, places]) => {
  const range = parseAddressRange(text);
  return range === undefined ? [] : [{ range, places }];
});

/** An address and the IPv4 addresses that may be meant by it. */
export function withInner(bytes: IpBytes): IpBytes[] {
  const inner = TRANSLATIONS.filter(({ range }) => isIn(bytes, range)).map(({ places }) =>
    Uint8Array.from(places, (place) => bytes[place] ?? 0),
  );
  return [bytes, ...inner];
}

/** The class of an address that untrusted input must not make this process dial; undefined for all others. */
export function specialAddress(bytes: IpBytes): string | undefined {
  for (const one of withInner(bytes)) {
    const found = RANGES.find(({ range }) => isIn(one, range));
    if (found !== undefined) return found.title;
  }
  return undefined;
}
