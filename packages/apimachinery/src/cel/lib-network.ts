import { goQuote } from "../go-text.ts";
import { parseRequestUri } from "../schema/format-uri.ts";
import { formatIpAddress, type IpBytes, isIpv4Mapped, parseCidrText, parseIpAddress } from "../schema/ip-address.ts";
import { define } from "./functions.ts";
import { ArrayList, CelCidr, CelError, CelIp, CelUrl, EntryMap, type Value } from "./values.ts";

const s = (v: Value | undefined): string => v as string;
const bytes = (v: Value | undefined): IpBytes => (v as CelIp).bytes;
const url = (v: Value | undefined): CelUrl => v as CelUrl;

function ip(text: string): CelIp {
  const address = parseIpAddress(text);
  if (address === undefined)
    throw new CelError(
      `IP Address ${goQuote(text)} parse error during conversion from string: ParseAddr(${goQuote(text)}): unable to parse IP`,
    );
  if (isIpv4Mapped(address)) throw new CelError(`IPv4-mapped IPv6 address ${goQuote(text)} is not allowed`);
  return new CelIp(address);
}

function cidr(text: string): CelCidr {
  const parsed = parseCidrText(text);
  if (parsed === undefined || isIpv4Mapped(parsed.address)) {
    throw new CelError(`network address parse error during conversion from string: CIDR ${goQuote(text)} parse error`);
  }
  return new CelCidr(parsed.address, parsed.bits);
}

function attempt(parse: () => unknown): boolean {
  try {
    parse();
    return true;
  } catch {
    return false;
  }
}

define("ip", "string_to_ip", "(string):IP", (v) => ip(s(v)));
define("isIP", "is_ip", "(string):bool", (v) => attempt(() => ip(s(v))));
define("ip.isCanonical", "ip_is_canonical", "(string):bool", (v) => formatIpAddress(ip(s(v)).bytes) === s(v));
define("string", "ip_to_string", "(IP):string", (v) => formatIpAddress(bytes(v)));
define("family", "ip_family", "IP.():int", (v) => (bytes(v).length === 4 ? 4n : 6n));
define("isUnspecified", "ip_is_unspecified", "IP.():bool", (v) => bytes(v).every((b) => b === 0));
define("isLoopback", "ip_is_loopback", "IP.():bool", (v) => isLoopback(bytes(v)));
define("isLinkLocalMulticast", "ip_is_link_local_multicast", "IP.():bool", (v) => isLinkLocalMulticast(bytes(v)));
define("isLinkLocalUnicast", "ip_is_link_local_unicast", "IP.():bool", (v) => isLinkLocalUnicast(bytes(v)));
define("isGlobalUnicast", "ip_is_global_unicast", "IP.():bool", (v) => {
  const b = bytes(v);
  const broadcast = b.length === 4 && b.every((x) => x === 255);
  const multicast = b.length === 4 ? ((b[0] ?? 0) & 0xf0) === 0xe0 : b[0] === 0xff;
  return !broadcast && !multicast && !isLoopback(b) && !isLinkLocalUnicast(b) && !b.every((x) => x === 0);
});

function isLoopback(b: IpBytes): boolean {
  return b.length === 4 ? b[0] === 127 : b.subarray(0, 15).every((x) => x === 0) && b[15] === 1;
}

function isLinkLocalUnicast(b: IpBytes): boolean {
  return b.length === 4 ? b[0] === 169 && b[1] === 254 : b[0] === 0xfe && ((b[1] ?? 0) & 0xc0) === 0x80;
}

function isLinkLocalMulticast(b: IpBytes): boolean {
  return b.length === 4 ? b[0] === 224 && b[1] === 0 && b[2] === 0 : b[0] === 0xff && ((b[1] ?? 0) & 0x0f) === 2;
}

function mask(b: IpBytes, bits: number): IpBytes {
  return b.map((byte, k) => byte & ((0xff00 >> Math.min(Math.max(bits - 8 * k, 0), 8)) & 0xff));
}

function contains(net: CelCidr, address: IpBytes): boolean {
  if (net.bytes.length !== address.length) return false;
  return Buffer.compare(mask(net.bytes, net.bits), mask(address, net.bits)) === 0;
}

const net = (v: Value | undefined): CelCidr => v as CelCidr;
define("cidr", "string_to_cidr", "(string):CIDR", (v) => cidr(s(v)));
define("isCIDR", "is_cidr", "(string):bool", (v) => attempt(() => cidr(s(v))));
define("string", "cidr_to_string", "(CIDR):string", (v) => `${formatIpAddress(net(v).bytes)}/${net(v).bits}`);
define("containsIP", "cidr_contains_ip_string", "CIDR.(string):bool", (v, text) => contains(net(v), ip(s(text)).bytes));
define("containsIP", "cidr_contains_ip_ip", "CIDR.(IP):bool", (v, address) => contains(net(v), bytes(address)));
const containsCidr = (outer: CelCidr, inner: CelCidr): boolean =>
  outer.bits <= inner.bits && contains(outer, inner.bytes);
define("containsCIDR", "cidr_contains_cidr_string", "CIDR.(string):bool", (v, text) =>
  containsCidr(net(v), cidr(s(text))),
);
define("containsCIDR", "cidr_contains_cidr", "CIDR.(CIDR):bool", (v, other) => containsCidr(net(v), net(other)));
define("ip", "cidr_ip", "CIDR.():IP", (v) => new CelIp(net(v).bytes));
define("masked", "cidr_masked", "CIDR.():CIDR", (v) => new CelCidr(mask(net(v).bytes, net(v).bits), net(v).bits));
define("prefixLength", "cidr_prefix_length", "CIDR.():int", (v) => BigInt(net(v).bits));

function parseUrl(text: string): CelUrl {
  const parsed = parseRequestUri(text);
  if (parsed === undefined)
    throw new CelError(
      `URL parse error during conversion from string: parse ${goQuote(text)}: invalid URI for request`,
    );
  return new CelUrl(parsed, text);
}

define("url", "string_to_url", "(string):URL", (v) => parseUrl(s(v)));
define("isURL", "is_url_string", "(string):bool", (v) => attempt(() => parseUrl(s(v))));
define("getScheme", "url_get_scheme", "URL.():string", (v) => url(v).url.scheme);
define("getHost", "url_get_host", "URL.():string", (v) => url(v).url.host);
define("getHostname", "url_get_hostname", "URL.():string", (v) => url(v).url.hostname);
define("getPort", "url_get_port", "URL.():string", (v) => url(v).url.port);
define("getEscapedPath", "url_get_escaped_path", "URL.():string", (v) => url(v).url.escapedPath);
define("getQuery", "url_get_query", "URL.():map<string,list<string>>", (v) => {
  const found = new Map<string, Value[]>();
  for (const [key, value] of new URLSearchParams(url(v).url.rawQuery)) {
    const known = found.get(key);
    if (known === undefined) found.set(key, [value]);
    else known.push(value);
  }
  return new EntryMap(new Map([...found].map(([key, values]) => [`s${key}`, [key, new ArrayList(values)] as const])));
});
