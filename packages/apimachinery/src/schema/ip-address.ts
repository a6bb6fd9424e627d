/** An IP address as bytes: 4 for IPv4, 16 for IPv6. */
export type IpBytes = Uint8Array;

/** Parses dotted IPv4; Go's net/netip refuses leading zeros, the older parser of Kubernetes ("sloppy") accepts them. */
export function parseIpv4(text: string, sloppy = false): IpBytes | undefined {
  const parts = text.split(".");
  if (parts.length !== 4) return undefined;
  const bytes = new Uint8Array(4);
  for (let i = 0; i < 4; i++) {
    const part = parts[i] ?? "";
    if (!/^[0-9]+$/.test(part) || (!sloppy && part.length > 1 && part.startsWith("0"))) return undefined;
    if (part.length > 20) return undefined;
    const value = Number(part);
    if (value > 255 || (!sloppy && part.length > 3)) return undefined;
    bytes[i] = value;
  }
  return bytes;
}

/** Parses IPv6 without zone, with `::` and an optional dotted tail. */
export function parseIpv6(text: string, sloppy = false): IpBytes | undefined {
  if (text.length > 64 || !text.includes(":")) return undefined;
  const halves = text.split("::");
  if (halves.length > 2) return undefined;
  const head = groups(halves[0] ?? "", halves.length === 1, sloppy);
  const tail = halves.length === 2 ? groups(halves[1] ?? "", true, sloppy) : [];
  if (head === undefined || tail === undefined) return undefined;
  const missing = 8 - head.length - tail.length;
  if (halves.length === 2 ? missing < 1 : missing !== 0) return undefined;
  const words = [...head, ...Array.from({ length: Math.max(missing, 0) }, () => 0), ...tail];
  const bytes = new Uint8Array(16);
  words.forEach((word, i) => {
    bytes[2 * i] = word >> 8;
    bytes[2 * i + 1] = word & 0xff;
  });
  return bytes;
}

function groups(text: string, last: boolean, sloppy: boolean): number[] | undefined {
  if (text === "") return [];
  const parts = text.split(":");
  const words: number[] = [];
  for (let i = 0; i < parts.length; i++) {
    const part = parts[i] ?? "";
    if (last && i === parts.length - 1 && part.includes(".")) {
      const v4 = parseIpv4(part, sloppy);
      if (v4 === undefined) return undefined;
      words.push(((v4[0] ?? 0) << 8) | (v4[1] ?? 0), ((v4[2] ?? 0) << 8) | (v4[3] ?? 0));
    } else {
      if (!/^[0-9a-fA-F]{1,4}$/.test(part)) return undefined;
      words.push(Number.parseInt(part, 16));
    }
  }
  return words;
}

/** Parses either family. */
export function parseIpAddress(text: string, sloppy = false): IpBytes | undefined {
  return text.includes(":") ? parseIpv6(text, sloppy) : parseIpv4(text, sloppy);
}

/** Whether an IPv6 address only wraps an IPv4 one (`::ffff:1.2.3.4`). */
export function isIpv4Mapped(bytes: IpBytes): boolean {
  return bytes.length === 16 && bytes.subarray(0, 10).every((b) => b === 0) && bytes[10] === 0xff && bytes[11] === 0xff;
}

/** The canonical text: lower-case hex, longest run of zero groups shortened. */
export function formatIpAddress(bytes: IpBytes): string {
  if (bytes.length === 4) return bytes.join(".");
  if (isIpv4Mapped(bytes)) return `::ffff:${bytes.subarray(12).join(".")}`;
  const words: number[] = [];
  for (let i = 0; i < 16; i += 2) words.push(((bytes[i] ?? 0) << 8) | (bytes[i + 1] ?? 0));
  let bestStart = -1;
  let bestLength = 1;
  for (let i = 0; i < 8; i++) {
    let length = 0;
    while (i + length < 8 && words[i + length] === 0) length++;
    if (length > bestLength) {
      bestStart = i;
      bestLength = length;
    }
    if (length > 0) i += length;
  }
  const hex = words.map((word) => word.toString(16));
  if (bestStart < 0) return hex.join(":");
  return `${hex.slice(0, bestStart).join(":")}::${hex.slice(bestStart + bestLength).join(":")}`;
}

/** Parses `address/bits`. */
export function parseCidrText(text: string, sloppy = false): { address: IpBytes; bits: number } | undefined {
  const slash = text.indexOf("/");
  if (slash < 0) return undefined;
  const address = parseIpAddress(text.slice(0, slash), sloppy);
  const bits = text.slice(slash + 1);
  if (address === undefined || !/^[0-9]{1,3}$/.test(bits)) return undefined;
  if (!sloppy && bits.length > 1 && bits.startsWith("0")) return undefined;
  const length = Number(bits);
  return length > address.length * 8 ? undefined : { address, bits: length };
}
