import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKey,
  generateKeyPair,
  type KeyObject,
  sign,
  verify,
} from "node:crypto";
import { bitString, children, element, integer, oid, readBitString, readElement, sequence, Tag } from "./der.ts";
import { PkiError } from "./errors.ts";
import { encodePem } from "./pem.ts";
import { Recent } from "./recent.ts";

/** Key kinds, named as kubeadm's `encryptionAlgorithm` names them. */
export type KeyAlgorithm = "ECDSA-P256" | "ECDSA-P384" | "RSA-2048" | "RSA-3072" | "RSA-4096";

/** A private key as PEM: `EC PRIVATE KEY` or `RSA PRIVATE KEY`, the forms kubeadm writes. */
export interface KeyPair {
  readonly privateKeyPem: string;
  readonly publicKeyPem: string;
}

/** Creates a key off the event loop. RSA takes 50-300 ms of CPU, ECDSA a tenth of a millisecond. */
export async function createKeyPair(algorithm: KeyAlgorithm = "ECDSA-P256"): Promise<KeyPair> {
  const { publicKey, privateKey } = await generate(algorithm);
  const spki = publicKeyInfo(publicKey);
  const pair = {
    publicKeyPem: encodePem("PUBLIC KEY", spki),
    privateKeyPem: privateKey.asymmetricKeyType === "ec" ? ecPrivateKeyPem(privateKey) : rsaPrivateKeyPem(privateKey),
  };
  // Reading a key costs five times as much as making it: who made it will use it at once.
  recentKeys.set(pair.privateKeyPem, privateKey);
  recentPublicKeys.set(textOf(spki), publicKey);
  infos.set(privateKey, spki);
  return pair;
}

function generate(algorithm: KeyAlgorithm): Promise<{ publicKey: KeyObject; privateKey: KeyObject }> {
  return new Promise((resolve, reject) => {
    const done = (error: Error | null, publicKey: KeyObject, privateKey: KeyObject): void =>
      error === null ? resolve({ publicKey, privateKey }) : reject(error);
    if (algorithm.startsWith("RSA-")) generateKeyPair("rsa", { modulusLength: Number(algorithm.slice(4)) }, done);
    else generateKeyPair("ec", { namedCurve: algorithm === "ECDSA-P384" ? "P-384" : "P-256" }, done);
  });
}

function rsaPrivateKeyPem(key: KeyObject): string {
  return key.export({ type: "pkcs1", format: "pem" }).toString();
}

/** RFC 5915, as OpenSSL writes it. */
function ecPrivateKeyPem(key: KeyObject): string {
  const { d, curve, point } = ecParts(key);
  const der = sequence(
    integer(Buffer.of(1)),
    element(Tag.octetString, Buffer.from(d ?? "", "base64url")),
    element(0xa0, curve),
    element(0xa1, bitString(point)),
  );
  return encodePem("EC PRIVATE KEY", der);
}

const CURVES: Readonly<Record<string, Buffer>> = {
  "P-256": oid("1.2.840.10045.3.1.7"),
  "P-384": oid("1.3.132.0.34"),
  "P-521": oid("1.3.132.0.35"),
};
const EC_PUBLIC_KEY = oid("1.2.840.10045.2.1");

/** The numbers of a key. Asking OpenSSL for them takes a tenth of the time it needs to encode the key itself. */
function ecParts(key: KeyObject): { d: string | undefined; curve: Buffer; point: Buffer } {
  const { crv = "", x = "", y = "", d } = key.export({ format: "jwk" });
  const curve = CURVES[crv];
  if (curve === undefined) throw new PkiError(`keys on curve ${crv} are not supported: use P-256, P-384 or P-521`);
  const point = Buffer.concat([Buffer.of(4), Buffer.from(x, "base64url"), Buffer.from(y, "base64url")]);
  return { d, curve, point };
}

/** Returns 32 random bytes in base64, as kube-apiserver's encryption at rest expects them. */
export function createSecretKey(): Promise<string> {
  return new Promise((resolve, reject) => {
    generateKey("aes", { length: 256 }, (error, key) =>
      error === null ? resolve(key.export().toString("base64")) : reject(error),
    );
  });
}

/** Creates the key that signs ServiceAccount tokens: kubeadm's `sa.key` and `sa.pub`. */
export function createServiceAccountKey(algorithm: KeyAlgorithm = "ECDSA-P256"): Promise<KeyPair> {
  return createKeyPair(algorithm);
}

const recentKeys = new Recent<KeyObject>(1000);
const recentPublicKeys = new Recent<KeyObject>(1000);
const infos = new WeakMap<KeyObject, Buffer>();

const textOf = (spki: Uint8Array): string => Buffer.from(spki.buffer, spki.byteOffset, spki.length).toString("base64");

/** Reads a private key in PKCS#8, SEC1 or PKCS#1 PEM. `what` names it in errors. */
export function readPrivateKey(pem: string, what = "private key"): KeyObject {
  return recentKeys.of(pem, () => parsePrivateKey(pem, what));
}

function parsePrivateKey(pem: string, what: string): KeyObject {
  // openssl writes an EC PARAMETERS block before the key; it repeats what the key contains.
  const text = withoutParameters(pem);
  try {
    return createPrivateKey(text);
  } catch (cause) {
    throw new PkiError(`${what} cannot be read: expected PEM in PKCS#8, SEC1 or PKCS#1 form without a passphrase`, {
      cause,
    });
  }
}

const BEGIN_PARAMETERS = "-----BEGIN EC PARAMETERS-----";
const END_PARAMETERS = "-----END EC PARAMETERS-----";

function withoutParameters(pem: string): string {
  const begin = pem.indexOf(BEGIN_PARAMETERS);
  const end = begin < 0 ? -1 : pem.indexOf(END_PARAMETERS, begin);
  return end < 0 ? pem : pem.slice(0, begin) + pem.slice(end + END_PARAMETERS.length).trimStart();
}

/** SubjectPublicKeyInfo (DER) of a private or public key. */
export function publicKeyInfo(key: KeyObject): Buffer {
  let info = infos.get(key);
  if (info === undefined) {
    info = encodePublicKey(key);
    infos.set(key, info);
  }
  return info;
}

const JWK_CURVES: ReadonlySet<string> = new Set(["prime256v1", "secp384r1", "secp521r1"]);

function encodePublicKey(key: KeyObject): Buffer {
  if (key.asymmetricKeyType === "ec" && JWK_CURVES.has(key.asymmetricKeyDetails?.namedCurve ?? "")) {
    const { curve, point } = ecParts(key);
    return sequence(sequence(EC_PUBLIC_KEY, curve), bitString(point));
  }
  const publicKey = key.type === "private" ? createPublicKey(key) : key;
  return publicKey.export({ type: "spki", format: "der" });
}

/** Reads a SubjectPublicKeyInfo. */
export function readPublicKeyInfo(spki: Uint8Array): KeyObject {
  return recentPublicKeys.of(textOf(spki), () => parsePublicKey(spki));
}

function parsePublicKey(spki: Uint8Array): KeyObject {
  try {
    return createPublicKey({ key: Buffer.from(spki), format: "der", type: "spki" });
  } catch (cause) {
    throw new PkiError("the public key cannot be read: only RSA and ECDSA keys are supported", { cause });
  }
}

/** Returns the key identifier as Go computes it since 1.25: the leftmost 160 bits of the SHA-256 of the public key (RFC 7093). */
export function keyIdentifier(spki: Uint8Array): Buffer {
  const bits = readBitString(children(readElement(spki), Tag.sequence, "public key")[1]);
  return createHash("sha256").update(bits).digest().subarray(0, 20);
}

interface SignatureAlgorithm {
  readonly digest: string;
  readonly identifier: Buffer;
}

const ecdsa = (digest: string, id: string): SignatureAlgorithm => ({ digest, identifier: sequence(oid(id)) });
const rsa = (digest: string, id: string): SignatureAlgorithm => ({
  digest,
  identifier: sequence(oid(id), element(Tag.null)),
});

const SIGNATURES: Readonly<Record<string, SignatureAlgorithm>> = {
  "1.2.840.10045.4.3.2": ecdsa("sha256", "1.2.840.10045.4.3.2"),
  "1.2.840.10045.4.3.3": ecdsa("sha384", "1.2.840.10045.4.3.3"),
  "1.2.840.10045.4.3.4": ecdsa("sha512", "1.2.840.10045.4.3.4"),
  "1.2.840.113549.1.1.11": rsa("sha256", "1.2.840.113549.1.1.11"),
  "1.2.840.113549.1.1.12": rsa("sha384", "1.2.840.113549.1.1.12"),
  "1.2.840.113549.1.1.13": rsa("sha512", "1.2.840.113549.1.1.13"),
};
const ED25519 = "1.3.101.112";

/** Returns the AlgorithmIdentifier and digest with which `key` signs, chosen as Go does for its type. */
export function signatureAlgorithmOf(key: KeyObject): SignatureAlgorithm {
  let id = "";
  if (key.asymmetricKeyType === "rsa") id = "1.2.840.113549.1.1.11";
  else if (key.asymmetricKeyType === "ec") {
    const curve = key.asymmetricKeyDetails?.namedCurve;
    id = curve === "secp384r1" ? "1.2.840.10045.4.3.3" : "1.2.840.10045.4.3.2";
    if (curve === "secp521r1") id = "1.2.840.10045.4.3.4";
  }
  const algorithm = SIGNATURES[id];
  if (algorithm === undefined)
    throw new PkiError(`keys of type ${key.asymmetricKeyType ?? "unknown"} cannot sign certificates: use RSA or ECDSA`);
  return algorithm;
}

/** Signature over `data` in the form X.509 carries. */
export function signData(key: KeyObject, data: Uint8Array): Buffer {
  return sign(signatureAlgorithmOf(key).digest, data, key);
}

/** Checks a signature whose algorithm is given by its OID; unknown and outdated algorithms count as not valid. */
export function verifyData(key: KeyObject, algorithmOid: string, data: Uint8Array, signature: Uint8Array): boolean {
  if (algorithmOid === ED25519 && key.asymmetricKeyType === "ed25519") return verify(null, data, key, signature);
  const algorithm = SIGNATURES[algorithmOid];
  if (algorithm === undefined || (key.asymmetricKeyType !== "rsa" && key.asymmetricKeyType !== "ec")) return false;
  return verify(algorithm.digest, data, key, signature);
}
