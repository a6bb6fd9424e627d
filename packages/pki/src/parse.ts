import { createHash } from "node:crypto";
import { children, contentOf, type DerNode, readBitString, readElement, readOid, readTime, Tag } from "./der.ts";
import {
  decodeAuthorityKeyId,
  decodeExtensions,
  decodeIsCA,
  decodeUsages,
  Extension,
  type Usage,
} from "./extensions.ts";
import { readPublicKeyInfo, verifyData } from "./keys.ts";
import { decodeAlternativeNames, decodeName, type Subject } from "./names.ts";
import { decodePem, decodePemBlocks } from "./pem.ts";

/** The fields of a certificate that we use. */
export interface ParsedCertificate {
  readonly subject: Subject;
  readonly issuer: Subject;
  /** Hexadecimal. */
  readonly serialNumber: string;
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
  readonly isCA: boolean;
  readonly dnsNames: readonly string[];
  readonly ipAddresses: readonly string[];
  readonly usages: readonly Usage[];
  /** Whether usages are restricted at all: without the extension a certificate may be used for everything. */
  readonly extendedKeyUsage: boolean;
  readonly subjectKeyId: string | undefined;
  readonly authorityKeyId: string | undefined;
  /** SubjectPublicKeyInfo. */
  readonly publicKeyInfo: Uint8Array;
  /** Encoded subject, byte for byte: what certificates issued by this one name as their issuer. */
  readonly subjectDer: Uint8Array;
}

/** Parses the first certificate of a PEM text; throws PkiError when there is none. */
export function parseCertificate(pem: string): ParsedCertificate {
  return parseCertificateDer(decodePem(pem, "CERTIFICATE"));
}

/** Parses every certificate of a PEM bundle. */
export function parseCertificates(pem: string): ParsedCertificate[] {
  return decodePemBlocks(pem, "CERTIFICATE").map(parseCertificateDer);
}

/** Parses a DER certificate without checking its signature. */
export function parseCertificateDer(der: Uint8Array): ParsedCertificate {
  const [body] = children(readElement(der), Tag.sequence, "certificate");
  const fields = children(body, Tag.sequence, "certificate body");
  if (fields[0]?.tag === 0xa0) fields.shift();
  const [serial, , issuer, validity, subject, publicKey] = fields;
  const [notBefore, notAfter] = children(validity, Tag.sequence, "validity");
  const extensions = extensionsOf(fields);
  const names = extensions.get(Extension.alternativeNames);
  const { dnsNames, ipAddresses } =
    names === undefined ? { dnsNames: [], ipAddresses: [] } : decodeAlternativeNames(names);
  contentOf(publicKey, Tag.sequence, "public key");
  const keyId = extensions.get(Extension.subjectKeyId);
  return {
    subject: decodeName(subject),
    issuer: decodeName(issuer),
    serialNumber: contentOf(serial, Tag.integer, "serial number").toString("hex"),
    notBeforeMs: readTime(notBefore),
    notAfterMs: readTime(notAfter),
    isCA: decodeIsCA(extensions.get(Extension.basicConstraints)),
    dnsNames,
    ipAddresses,
    usages: decodeUsages(extensions.get(Extension.extendedKeyUsage)),
    extendedKeyUsage: extensions.has(Extension.extendedKeyUsage),
    subjectKeyId: keyId === undefined ? undefined : readElement(keyId).content.toString("hex"),
    authorityKeyId: decodeAuthorityKeyId(extensions.get(Extension.authorityKeyId))?.toString("hex"),
    publicKeyInfo: publicKey?.raw ?? new Uint8Array(),
    subjectDer: subject?.raw ?? new Uint8Array(),
  };
}

/** Whether a certificate carries the signature of an authority. */
export function isSignedBy(certPem: string, authority: ParsedCertificate): boolean {
  const [body, algorithm, signature] = children(
    readElement(decodePem(certPem, "CERTIFICATE")),
    Tag.sequence,
    "certificate",
  );
  const id = readOid(children(algorithm, Tag.sequence, "signature algorithm")[0]);
  const key = readPublicKeyInfo(authority.publicKeyInfo);
  return verifyData(key, id, body?.raw ?? Buffer.alloc(0), readBitString(signature));
}

function extensionsOf(fields: readonly DerNode[]): Map<string, Buffer> {
  const node = fields.find((field) => field.tag === 0xa3);
  return node === undefined ? new Map() : decodeExtensions(readElement(node.content));
}

/** Returns the pin that `kubeadm join --discovery-token-ca-cert-hash` takes: the SHA-256 of the public key. */
export function publicKeyPin(certPem: string): string {
  return `sha256:${createHash("sha256").update(parseCertificate(certPem).publicKeyInfo).digest("hex")}`;
}
