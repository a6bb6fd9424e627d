import {
  bitString,
  children,
  contentOf,
  type DerNode,
  element,
  namedBits,
  oid,
  readElement,
  readOid,
  sequence,
  Tag,
} from "./der.ts";
import { type AlternativeNames, encodeAlternativeNames } from "./names.ts";

/** X.509 extension identifiers. */
export const Extension = {
  subjectKeyId: "2.5.29.14",
  keyUsage: "2.5.29.15",
  alternativeNames: "2.5.29.17",
  basicConstraints: "2.5.29.19",
  authorityKeyId: "2.5.29.35",
  extendedKeyUsage: "2.5.29.37",
} as const;

/** What a certificate's owner may do with it in TLS. */
export type Usage = "client" | "server";

const USAGE_OIDS: Readonly<Record<Usage, string>> = { server: "1.3.6.1.5.5.7.3.1", client: "1.3.6.1.5.5.7.3.2" };

/** KeyUsage bits by the names that CertificateSigningRequests use. */
const KEY_USAGE_BITS = {
  "digital signature": 0,
  "content commitment": 1,
  "key encipherment": 2,
  "data encipherment": 3,
  "key agreement": 4,
  "cert sign": 5,
  "crl sign": 6,
} as const;

/** A KeyUsage name. */
export type KeyUsageName = keyof typeof KEY_USAGE_BITS;

/** What the extensions of a certificate say. */
export interface ExtensionValues {
  readonly keyUsages: readonly KeyUsageName[];
  readonly usages: readonly Usage[];
  readonly isCA: boolean;
  readonly subjectKeyId: Uint8Array;
  readonly authorityKeyId: Uint8Array | undefined;
  readonly names: AlternativeNames;
}

const extension = (id: string, critical: boolean, value: Uint8Array): Buffer =>
  critical
    ? sequence(oid(id), element(Tag.boolean, Buffer.of(0xff)), element(Tag.octetString, value))
    : sequence(oid(id), element(Tag.octetString, value));

/** The subjectAltName extension, also used in requests. */
export function alternativeNamesExtension(names: AlternativeNames): Buffer {
  return extension(Extension.alternativeNames, false, encodeAlternativeNames(names));
}

/** Encodes the extensions in the order Go writes them. */
export function encodeExtensions(values: ExtensionValues): Buffer {
  const list: Buffer[] = [];
  if (values.keyUsages.length > 0)
    list.push(extension(Extension.keyUsage, true, namedBits(values.keyUsages.map((name) => KEY_USAGE_BITS[name]))));
  if (values.usages.length > 0)
    list.push(
      extension(Extension.extendedKeyUsage, false, sequence(...values.usages.map((usage) => oid(USAGE_OIDS[usage])))),
    );
  const constraints = values.isCA ? sequence(element(Tag.boolean, Buffer.of(0xff))) : sequence();
  list.push(extension(Extension.basicConstraints, true, constraints));
  list.push(extension(Extension.subjectKeyId, false, element(Tag.octetString, values.subjectKeyId)));
  if (values.authorityKeyId !== undefined)
    list.push(extension(Extension.authorityKeyId, false, sequence(element(0x80, values.authorityKeyId))));
  if (values.names.dnsNames.length + values.names.ipAddresses.length > 0)
    list.push(alternativeNamesExtension(values.names));
  return sequence(...list);
}

/** Extension values by identifier, each still encoded. */
export function decodeExtensions(node: DerNode): Map<string, Buffer> {
  const found = new Map<string, Buffer>();
  for (const item of children(node, Tag.sequence, "extensions")) {
    const [id, ...rest] = children(item, Tag.sequence, "extension");
    found.set(readOid(id), contentOf(rest.at(-1), Tag.octetString, "extension value"));
  }
  return found;
}

/** The usages an extendedKeyUsage extension lists, unknown ones left out. */
export function decodeUsages(value: Uint8Array | undefined): Usage[] {
  if (value === undefined) return [];
  const oids = children(readElement(value), Tag.sequence, "extended key usage").map(readOid);
  return (Object.keys(USAGE_OIDS) as Usage[]).filter((usage) => oids.includes(USAGE_OIDS[usage]));
}

/** Whether a basicConstraints extension makes a CA. */
export function decodeIsCA(value: Uint8Array | undefined): boolean {
  if (value === undefined) return false;
  const [flag] = children(readElement(value), Tag.sequence, "basic constraints");
  return flag?.tag === Tag.boolean && flag.content[0] !== 0;
}

/** The key identifier in an authorityKeyIdentifier extension. */
export function decodeAuthorityKeyId(value: Uint8Array | undefined): Buffer | undefined {
  if (value === undefined) return undefined;
  return children(readElement(value), Tag.sequence, "authority key identifier").find((node) => node.tag === 0x80)
    ?.content;
}

/** A signed structure: the part that was signed, how, and the signature. */
export function signed(body: Uint8Array, algorithm: Uint8Array, signature: Uint8Array): Buffer {
  return sequence(body, algorithm, bitString(signature));
}
