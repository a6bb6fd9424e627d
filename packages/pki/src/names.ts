import { children, contentOf, type DerNode, element, oid, readElements, readOid, sequence, setOf, Tag } from "./der.ts";
import { PkiError } from "./errors.ts";

/** The parts of a distinguished name that Kubernetes reads: user name and groups. */
export interface Subject {
  readonly commonName: string;
  readonly organizations: readonly string[];
}

const COMMON_NAME = "2.5.4.3";
const ORGANIZATION = "2.5.4.10";

const attribute = (type: string, value: string): Buffer => sequence(oid(type), directoryString(value));

// Go picks PrintableString where the alphabet allows it; comparing issuer names byte by byte then works across both makers.
function directoryString(value: string): Buffer {
  const tag = /^[A-Za-z0-9 '()+,\-./:=?]*$/.test(value) ? Tag.printableString : Tag.utf8String;
  return element(tag, Buffer.from(value, "utf8"));
}

/** Encodes a name as Go's pkix does: all organizations in one set, then the common name. */
export function encodeName(subject: Subject): Buffer {
  const sets: Buffer[] = [];
  if (subject.organizations.length > 0)
    sets.push(setOf(subject.organizations.map((organization) => attribute(ORGANIZATION, organization))));
  if (subject.commonName !== "") sets.push(setOf([attribute(COMMON_NAME, subject.commonName)]));
  return sequence(...sets);
}

/** Reads the common name (the last one, as Go does) and the organizations of a name. */
export function decodeName(node: DerNode | undefined): Subject {
  let commonName = "";
  const organizations: string[] = [];
  for (const set of children(node, Tag.sequence, "name")) {
    for (const pair of children(set, Tag.set, "relative distinguished name")) {
      const [type, value] = children(pair, Tag.sequence, "name attribute");
      const id = readOid(type);
      if (id === COMMON_NAME) commonName = readString(value);
      else if (id === ORGANIZATION) organizations.push(readString(value));
    }
  }
  return { commonName, organizations };
}

function readString(node: DerNode | undefined): string {
  if (node === undefined) throw new PkiError("malformed DER: name attribute has no value");
  if (node.tag === Tag.bmpString) return Buffer.from(node.content).swap16().toString("utf16le");
  return node.content.toString("utf8");
}

/** Names a certificate is valid for. */
export interface AlternativeNames {
  readonly dnsNames: readonly string[];
  readonly ipAddresses: readonly string[];
}

const DNS_NAME = 0x82;
const IP_ADDRESS = 0x87;

/** GeneralNames of a subjectAltName extension. */
export function encodeAlternativeNames(names: AlternativeNames): Buffer {
  return sequence(
    ...names.dnsNames.map((name) => element(DNS_NAME, Buffer.from(name, "latin1"))),
    ...names.ipAddresses.map((address) => element(IP_ADDRESS, ipToBytes(address))),
  );
}

/** What a subjectAltName extension lists; `others` counts e-mail addresses, URIs and the like. */
export function decodeAlternativeNames(value: Uint8Array): AlternativeNames & { readonly others: number } {
  const dnsNames: string[] = [];
  const ipAddresses: string[] = [];
  let others = 0;
  for (const node of readElements(contentOf(readElements(value)[0], Tag.sequence, "subject alternative names"))) {
    if (node.tag === DNS_NAME) dnsNames.push(node.content.toString("latin1"));
    else if (node.tag === IP_ADDRESS) ipAddresses.push(bytesToIp(node.content));
    else others++;
  }
  return { dnsNames, ipAddresses, others };
}

/** Network byte order of an IPv4 or IPv6 address. */
function ipToBytes(address: string): Buffer {
  const v4 = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(address);
  if (v4 !== null && v4.slice(1).every((part) => Number(part) < 256)) return Buffer.from(v4.slice(1).map(Number));
  return ipv6ToBytes(address);
}

function ipv6ToBytes(address: string): Buffer {
  const bad = (): PkiError => new PkiError(`"${address}" is not an IP address: use a dotted IPv4 or an IPv6 address`);
  const dotted = /^(.*:)(\d+\.\d+\.\d+\.\d+)$/.exec(address);
  let text = address;
  if (dotted !== null) {
    const tail = ipToBytes(dotted[2] ?? "");
    text = `${dotted[1]}${tail.readUInt16BE(0).toString(16)}:${tail.readUInt16BE(2).toString(16)}`;
  }
  const halves = text.split("::");
  if (halves.length > 2) throw bad();
  const [head = [], tail = []] = halves.map((half) => (half === "" ? [] : half.split(":")));
  const missing = 8 - head.length - tail.length;
  if (halves.length === 1 ? missing !== 0 : missing < 1) throw bad();
  const groups = [...head, ...Array.from({ length: missing }, () => "0"), ...tail];
  const out = Buffer.alloc(16);
  groups.forEach((group, i) => {
    if (!/^[0-9a-fA-F]{1,4}$/.test(group)) throw bad();
    out.writeUInt16BE(Number.parseInt(group, 16), i * 2);
  });
  return out;
}

/** Text of a 4 or 16 byte address; IPv6 in the short form of RFC 5952. */
function bytesToIp(bytes: Uint8Array): string {
  if (bytes.length === 4) return bytes.join(".");
  if (bytes.length !== 16) throw new PkiError("malformed DER: IP address has neither 4 nor 16 bytes");
  const view = Buffer.from(bytes);
  const groups = Array.from({ length: 8 }, (_, i) => view.readUInt16BE(i * 2).toString(16));
  const runs = [...groups.join(":").matchAll(/(^|:)0(:0)+(?=:|$)/g)].sort(
    (a, b) => b[0].split("0").length - a[0].split("0").length,
  );
  const run = runs[0];
  if (run === undefined) return groups.join(":");
  const joined = groups.join(":");
  const after = joined.slice(run.index + run[0].length);
  return `${joined.slice(0, run.index)}${after.startsWith(":") ? ":" : "::"}${after}`;
}
