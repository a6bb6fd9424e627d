import type { Random } from "@capstan/apimachinery";
import { type CertificateAndKey, openAuthority, signLeaf } from "./authority.ts";
import {
  children,
  contentOf,
  type DerNode,
  element,
  integer,
  oid,
  readBitString,
  readElement,
  readElements,
  readOid,
  sequence,
  setOf,
  Tag,
} from "./der.ts";
import { PkiError } from "./errors.ts";
import {
  alternativeNamesExtension,
  decodeExtensions,
  Extension,
  type KeyUsageName,
  signed,
  type Usage,
} from "./extensions.ts";
import {
  createKeyPair,
  type KeyAlgorithm,
  publicKeyInfo,
  readPrivateKey,
  readPublicKeyInfo,
  signatureAlgorithmOf,
  signData,
  verifyData,
} from "./keys.ts";
import { decodeAlternativeNames, decodeName, encodeName, type Subject } from "./names.ts";
import { decodePem, encodePem } from "./pem.ts";
import { Recent } from "./recent.ts";

const LABEL = "CERTIFICATE REQUEST";
const EXTENSION_REQUEST = "1.2.840.113549.1.9.14";

/** A PKCS#10 request whose signature has been verified. */
export interface ParsedCertificateRequest extends Subject {
  readonly dnsNames: readonly string[];
  readonly ipAddresses: readonly string[];
  /** How many e-mail addresses, URIs and other names it asks for. */
  readonly otherNames: number;
  readonly keyType: "rsa" | "ec" | "ed25519";
  /** SubjectPublicKeyInfo. */
  readonly publicKeyInfo: Uint8Array;
  readonly subjectDer: Uint8Array;
}

/** Creates a key and a certificate signing request for it. */
export async function createCertificateRequest(options: {
  commonName: string;
  organizations?: readonly string[];
  dnsNames?: readonly string[];
  ipAddresses?: readonly string[];
  algorithm?: KeyAlgorithm;
}): Promise<{ csrPem: string; keyPem: string }> {
  const { privateKeyPem } = await createKeyPair(options.algorithm);
  const key = readPrivateKey(privateKeyPem);
  const names = { dnsNames: options.dnsNames ?? [], ipAddresses: options.ipAddresses ?? [] };
  const attributes =
    names.dnsNames.length + names.ipAddresses.length === 0
      ? []
      : [sequence(oid(EXTENSION_REQUEST), setOf([sequence(alternativeNamesExtension(names))]))];
  const body = sequence(
    integer(Buffer.of(0)),
    encodeName({ commonName: options.commonName, organizations: options.organizations ?? [] }),
    publicKeyInfo(key),
    element(0xa0, ...attributes),
  );
  const { identifier } = signatureAlgorithmOf(key);
  return { csrPem: encodePem(LABEL, signed(body, identifier, signData(key, body))), keyPem: privateKeyPem };
}

const recentRequests = new Recent<ParsedCertificateRequest>(100);

/** Parses a request and verifies that its sender holds the key. Throws PkiError. */
export async function parseCertificateRequest(csrPem: string): Promise<ParsedCertificateRequest> {
  return recentRequests.of(csrPem, readRequest);
}

function readRequest(csrPem: string): ParsedCertificateRequest {
  const [body, algorithm, signature] = children(
    readElement(decodePem(csrPem, LABEL)),
    Tag.sequence,
    "certificate request",
  );
  const [, subject, publicKey, attributes] = children(body, Tag.sequence, "certificate request body");
  contentOf(publicKey, Tag.sequence, "public key");
  const spki = publicKey?.raw ?? Buffer.alloc(0);
  const key = readPublicKeyInfo(spki);
  const { asymmetricKeyType: keyType } = key;
  if (keyType !== "rsa" && keyType !== "ec" && keyType !== "ed25519")
    throw new PkiError(`the request's key is of type ${keyType ?? "unknown"}: use RSA, ECDSA or Ed25519`);
  const algorithmOid = readOid(children(algorithm, Tag.sequence, "signature algorithm")[0]);
  if (!verifyData(key, algorithmOid, body?.raw ?? Buffer.alloc(0), readBitString(signature)))
    throw new PkiError(
      "the request's signature does not match its key: create a new request with the matching private key",
    );
  const { others, ...names } = requestedNames(attributes);
  return {
    ...decodeName(subject),
    ...names,
    otherNames: others,
    keyType,
    publicKeyInfo: spki,
    subjectDer: subject?.raw ?? Buffer.alloc(0),
  };
}

function requestedNames(attributes: DerNode | undefined): ReturnType<typeof decodeAlternativeNames> {
  if (attributes?.tag === 0xa0) {
    for (const attribute of readElements(attributes.content)) {
      const [type, values] = children(attribute, Tag.sequence, "request attribute");
      if (readOid(type) !== EXTENSION_REQUEST) continue;
      const [extensions] = children(values, Tag.set, "requested extensions");
      const names = extensions === undefined ? undefined : decodeExtensions(extensions).get(Extension.alternativeNames);
      if (names !== undefined) return decodeAlternativeNames(names);
    }
  }
  return { dnsNames: [], ipAddresses: [], others: 0 };
}

/** Issues a certificate with the subject, key and names of a request; the signer decides usages and lifetime. */
export async function signCertificateRequest(
  ca: CertificateAndKey,
  csrPem: string,
  options: {
    usages: readonly Usage[];
    keyUsages?: readonly KeyUsageName[];
    nowMs: number;
    validMs: number;
    random: Random;
  },
): Promise<string> {
  const request = await parseCertificateRequest(csrPem);
  return signLeaf(openAuthority(ca), {
    subjectDer: request.subjectDer,
    spki: request.publicKeyInfo,
    dnsNames: request.dnsNames,
    ipAddresses: request.ipAddresses,
    usages: options.usages,
    keyUsages: options.keyUsages ?? ["digital signature", "key encipherment"],
    nowMs: options.nowMs,
    validMs: options.validMs,
    random: options.random,
  });
}
