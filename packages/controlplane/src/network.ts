/** Service and pod CIDRs and DNS domain of a Cluster, with defaults applied. */
export interface ClusterNetwork {
  serviceCidrs: string[];
  podCidrs: string[];
  serviceDomain: string;
}

/** Service CIDR of a Cluster that specifies none. */
export const DEFAULT_SERVICE_CIDR = "10.96.0.0/16";
/** Pod CIDR of a Cluster that specifies none. */
export const DEFAULT_POD_CIDR = "10.244.0.0/16";
const DEFAULT_DOMAIN = "cluster.local";

/** Reads `spec.clusterNetwork` of a Cluster and applies defaults. */
export function clusterNetwork(
  spec: { services?: { cidrBlocks?: string[] }; pods?: { cidrBlocks?: string[] }; serviceDomain?: string } | undefined,
): ClusterNetwork {
  const orDefault = (blocks: string[] | undefined, fallback: string): string[] =>
    blocks === undefined || blocks.length === 0 ? [fallback] : blocks;
  return {
    serviceCidrs: orDefault(spec?.services?.cidrBlocks, DEFAULT_SERVICE_CIDR),
    podCidrs: orDefault(spec?.pods?.cidrBlocks, DEFAULT_POD_CIDR),
    serviceDomain: spec?.serviceDomain ?? DEFAULT_DOMAIN,
  };
}

interface Cidr {
  family: 4 | 6;
  base: bigint;
  prefix: number;
}

/** Parses `a.b.c.d/n` or `x::/n`; undefined when it is not a CIDR. */
export function parseCidr(text: string): Cidr | undefined {
  const [address, length, ...rest] = text.split("/");
  const prefix = Number(length);
  if (address === undefined || length === undefined || rest.length > 0 || !/^\d{1,3}$/.test(length)) return undefined;
  const family = address.includes(":") ? 6 : 4;
  const value = family === 4 ? parseIPv4(address) : parseIPv6(address);
  const bits = family === 4 ? 32 : 128;
  if (value === undefined || prefix > bits) return undefined;
  const hostBits = BigInt(bits - prefix);
  return { family, base: (value >> hostBits) << hostBits, prefix };
}

/** Returns whether two CIDRs overlap. */
export function cidrsOverlap(a: string, b: string): boolean {
  const left = parseCidr(a);
  const right = parseCidr(b);
  if (left === undefined || right === undefined || left.family !== right.family) return false;
  const shift = BigInt((left.family === 4 ? 32 : 128) - Math.min(left.prefix, right.prefix));
  return left.base >> shift === right.base >> shift;
}

/** Returns the n-th address of a CIDR: 1 is the `kubernetes` Service, 10 is cluster DNS. */
export function nthAddress(cidr: string, n: number): string {
  const parsed = parseCidr(cidr);
  if (parsed === undefined) throw new Error(`${cidr} is not a CIDR`);
  const value = parsed.base + BigInt(n);
  return parsed.family === 4 ? formatIPv4(value) : formatIPv6(value);
}

/** Returns whether a text is an IPv4 or IPv6 address. */
export function isIPAddress(text: string): boolean {
  return parseIPv4(text) !== undefined || (text.includes(":") && parseIPv6(text) !== undefined);
}

/** Returns `host:port`, with brackets around an IPv6 address. */
export function hostPort(host: string, port: number): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}

function parseIPv4(text: string): bigint | undefined {
  const parts = text.split(".");
  if (parts.length !== 4 || parts.some((part) => !/^(0|[1-9]\d{0,2})$/.test(part) || Number(part) > 255))
    return undefined;
  return parts.reduce((value, part) => (value << 8n) | BigInt(part), 0n);
}

function parseIPv6(text: string): bigint | undefined {
  const halves = text.split("::");
  if (halves.length > 2) return undefined;
  const groups = (half: string | undefined): string[] => (half === undefined || half === "" ? [] : half.split(":"));
  const head = groups(halves[0]);
  const tail = groups(halves[1]);
  const missing = 8 - head.length - tail.length;
  if (halves.length === 1 ? missing !== 0 : missing < 1) return undefined;
  const all = [...head, ...Array.from({ length: halves.length === 1 ? 0 : missing }, () => "0"), ...tail];
  if (all.some((group) => !/^[0-9a-fA-F]{1,4}$/.test(group))) return undefined;
  return all.reduce((value, group) => (value << 16n) | BigInt(`0x${group}`), 0n);
}

function formatIPv4(value: bigint): string {
  return [24n, 16n, 8n, 0n].map((shift) => String((value >> shift) & 255n)).join(".");
}

function formatIPv6(value: bigint): string {
  const groups = Array.from({ length: 8 }, (_, i) => ((value >> BigInt(16 * (7 - i))) & 0xffffn).toString(16));
  // The longest run of zeros is written as ::, the first one when there are several.
  const joined = groups.join(":");
  const runs = [...joined.matchAll(/(^|:)0(:0)+(?=:|$)/g)].sort((a, b) => b[0].length - a[0].length);
  const run = runs[0];
  if (run === undefined) return joined;
  const short = `${joined.slice(0, run.index)}::${joined.slice(run.index + run[0].length)}`;
  return short.replace(/:{3,}/, "::");
}
