import type { KeyObject } from "node:crypto";
import type { Random } from "@capstan/apimachinery";
import { element, integer, sequence, time } from "./der.ts";
import { PkiError } from "./errors.ts";
import { type ExtensionValues, encodeExtensions, type KeyUsageName, signed, type Usage } from "./extensions.ts";
import {
  createKeyPair,
  type KeyAlgorithm,
  keyIdentifier,
  publicKeyInfo,
  readPrivateKey,
  signatureAlgorithmOf,
  signData,
} from "./keys.ts";
import { encodeName } from "./names.ts";
import { type ParsedCertificate, parseCertificate } from "./parse.ts";
import { decodePem, encodePem } from "./pem.ts";
import { Recent } from "./recent.ts";

/** A certificate and its private key, both PEM. */
export interface CertificateAndKey {
  readonly certPem: string;
  readonly keyPem: string;
}

/** How far certificates are backdated, as in kubeadm, so that machines with slightly slow clocks accept them. */
export const BACKDATE_MS = 5 * 60_000;

/** Creates a self-signed CA as `kubeadm init phase certs` does, with its common name as a DNS name. */
export async function createCertificateAuthority(options: {
  commonName: string;
  algorithm?: KeyAlgorithm;
  notBeforeMs: number;
  validMs: number;
  random: Random;
}): Promise<CertificateAndKey> {
  const pair = await createKeyPair(options.algorithm);
  const key = readPrivateKey(pair.privateKeyPem);
  const spki = decodePem(pair.publicKeyPem, "PUBLIC KEY");
  const name = encodeName({ commonName: options.commonName, organizations: [] });
  const certPem = certificate(key, {
    issuerDer: name,
    subjectDer: name,
    spki,
    notBeforeMs: options.notBeforeMs,
    notAfterMs: options.notBeforeMs + options.validMs,
    random: options.random,
    extensions: {
      keyUsages: ["digital signature", "key encipherment", "cert sign"],
      usages: [],
      isCA: true,
      subjectKeyId: keyIdentifier(spki),
      authorityKeyId: undefined,
      names: { dnsNames: [options.commonName], ipAddresses: [] },
    },
  });
  return { certPem, keyPem: pair.privateKeyPem };
}

/** Contents of a leaf certificate. */
export interface LeafOptions {
  commonName: string;
  organizations?: readonly string[];
  dnsNames?: readonly string[];
  ipAddresses?: readonly string[];
  usages: readonly Usage[];
  algorithm?: KeyAlgorithm;
  nowMs: number;
  validMs: number;
  random: Random;
}

/** Creates a key and a certificate for it, which never outlives its CA. */
export async function issueCertificate(ca: CertificateAndKey, options: LeafOptions): Promise<CertificateAndKey> {
  const authority = openAuthority(ca);
  const pair = await createKeyPair(options.algorithm);
  const certPem = signLeaf(authority, {
    ...options,
    subjectDer: encodeName({ commonName: options.commonName, organizations: options.organizations ?? [] }),
    spki: decodePem(pair.publicKeyPem, "PUBLIC KEY"),
    keyUsages: ["digital signature", "key encipherment"],
  });
  return { certPem, keyPem: pair.privateKeyPem };
}

/** Contents of a leaf certificate for an existing public key. */
export interface LeafFields {
  readonly subjectDer: Uint8Array;
  readonly spki: Uint8Array;
  readonly dnsNames?: readonly string[];
  readonly ipAddresses?: readonly string[];
  readonly usages: readonly Usage[];
  readonly keyUsages: readonly KeyUsageName[];
  readonly nowMs: number;
  readonly validMs: number;
  readonly random: Random;
}

/** Signs a leaf certificate. */
export function signLeaf(authority: Authority, fields: LeafFields): string {
  const { certificate: ca, key } = authority;
  return certificate(key, {
    issuerDer: ca.subjectDer,
    subjectDer: fields.subjectDer,
    spki: fields.spki,
    notBeforeMs: Math.max(fields.nowMs - BACKDATE_MS, Math.min(ca.notBeforeMs, fields.nowMs)),
    notAfterMs: Math.min(fields.nowMs + fields.validMs, ca.notAfterMs),
    random: fields.random,
    extensions: {
      keyUsages: fields.keyUsages,
      usages: fields.usages,
      isCA: false,
      subjectKeyId: keyIdentifier(fields.spki),
      authorityKeyId: ca.subjectKeyId === undefined ? undefined : Buffer.from(ca.subjectKeyId, "hex"),
      names: { dnsNames: fields.dnsNames ?? [], ipAddresses: fields.ipAddresses ?? [] },
    },
  });
}

/** A CA that has been parsed and checked. */
export interface Authority {
  readonly certificate: ParsedCertificate;
  readonly key: KeyObject;
}

// Reading the PEM costs more than signing.
const opened = new Recent<Authority>(1000);

/** Parses a CA created by us, kubeadm, Cluster API or openssl, and checks that key and certificate match. */
export function openAuthority(ca: CertificateAndKey): Authority {
  return opened.of(`${ca.certPem}${ca.keyPem}`, () => readAuthority(ca));
}

function readAuthority(ca: CertificateAndKey): Authority {
  const parsed = parseCertificate(ca.certPem);
  const who = `CA "${parsed.subject.commonName}"`;
  if (!parsed.isCA)
    throw new PkiError(`${who} cannot issue certificates: its basic constraints do not say that it is a CA`);
  const key = readPrivateKey(ca.keyPem, `the key of ${who}`);
  if (!publicKeyInfo(key).equals(parsed.publicKeyInfo))
    throw new PkiError(`the key of ${who} does not belong to its certificate: provide a matching pair`);
  return { certificate: parsed, key };
}

interface CertificateFields {
  readonly issuerDer: Uint8Array;
  readonly subjectDer: Uint8Array;
  readonly spki: Uint8Array;
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
  readonly random: Random;
  readonly extensions: ExtensionValues;
}

const VERSION_3 = element(0xa0, integer(Buffer.of(2)));

function certificate(issuerKey: KeyObject, fields: CertificateFields): string {
  const { identifier } = signatureAlgorithmOf(issuerKey);
  const body = sequence(
    VERSION_3,
    integer(serialNumber(fields.random)),
    identifier,
    fields.issuerDer,
    sequence(time(fields.notBeforeMs), time(fields.notAfterMs)),
    fields.subjectDer,
    fields.spki,
    element(0xa3, encodeExtensions(fields.extensions)),
  );
  return encodePem("CERTIFICATE", signed(body, identifier, signData(issuerKey, body)));
}

/** Like kubeadm's: in [1, 2^63). */
function serialNumber(random: Random): Uint8Array {
  const bytes = Uint8Array.from(random.bytes(8));
  bytes[0] = (bytes[0] ?? 0) & 0x7f;
  if (bytes.every((byte) => byte === 0)) bytes[7] = 1;
  return bytes;
}
