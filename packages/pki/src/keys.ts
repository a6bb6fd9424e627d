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
import { children, element, oid, readBitString, readElement, sequence, Tag } from "./der.ts";
import { PkiError } from "./errors.ts";
import { Recent } from "./recent.ts";

/** Key kinds, named as kubeadm's `encryptionAlgorithm` names them. */
export type KeyAlgorithm = "ECDSA-P256" | "ECDSA-P384" | "RSA-2048" | "RSA-3072" | "RSA-4096";

/** A private key as PEM: `EC PRIVATE KEY` or `RSA PRIVATE KEY`, the forms kubeadm writes. */
export interface KeyPair {
  readonly privateKeyPem: string;
  readonly publicKeyPem: string;
}

/** Makes a key off the event loop. RSA takes 50-300 ms of CPU, ECDSA below one. */
export function createKeyPair(algorithm: KeyAlgorithm = "ECDSA-P256"): Promise<KeyPair> {
  return new Promise((resolve, reject) => {
    const done = (error: Error | null, publicKeyPem: string, privateKeyPem: string): void =>
      error === null ? resolve({ publicKeyPem, privateKeyPem }) : reject(error);
    const publicKeyEncoding = { type: "spki", format: "pem" } as const;
    if (algorithm.startsWith("RSA-")) {
      const modulusLength = Number(algorithm.slice(4));
      const privateKeyEncoding = { type: "pkcs1", format: "pem" } as const;
      generateKeyPair("rsa", { modulusLength, publicKeyEncoding, privateKeyEncoding }, done);
      return;
    }
    const namedCurve = algorithm === "ECDSA-P384" ? "P-384" : "P-256";
    generateKeyPair("ec", { namedCurve, publicKeyEncoding, privateKeyEncoding: { type: "sec1", format: "pem" } }, done);
  });
}

/** 32 secret bytes in base64, as kube-apiserver's encryption at rest wants them. */
export function createSecretKey(): Promise<string> {
  return new Promise((resolve, reject) => {
    generateKey("aes", { length: 256 }, (error, key) =>
      error === null ? resolve(key.export().toString("base64")) : reject(error),
    );
  });
}

/** The key for signing ServiceAccount tokens: `sa.key` and `sa.pub` of kubeadm. */
export function createServiceAccountKey(algorithm: KeyAlgorithm = "ECDSA-P256"): Promise<KeyPair> {
  return createKeyPair(algorithm);
}

const recentKeys = new Recent<KeyObject>(1000);

/** Reads a private key in PKCS#8, SEC1 or PKCS#1 PEM. `what` names it in errors. */
export function readPrivateKey(pem: string, what = "private key"): KeyObject {
  return recentKeys.of(pem, () => parsePrivateKey(pem, what));
}

function parsePrivateKey(pem: string, what: string): KeyObject {
  // openssl writes an EC PARAMETERS block before the key; it says nothing that the key does not.
  const text = pem.replace(/-----BEGIN EC PARAMETERS-----[\s\S]*?-----END EC PARAMETERS-----\s*/g, "");
  try {
    return createPrivateKey(text);
  } catch (cause) {
    throw new PkiError(`${what} cannot be read: expected PEM in PKCS#8, SEC1 or PKCS#1 form without a passphrase`, {
      cause,
    });
  }
}

/** SubjectPublicKeyInfo (DER) of a private or public key. */
export function publicKeyInfo(key: KeyObject): Buffer {
  const publicKey = key.type === "private" ? createPublicKey(key) : key;
  return publicKey.export({ type: "spki", format: "der" });
}

/** Reads a SubjectPublicKeyInfo. */
export function readPublicKeyInfo(spki: Uint8Array): KeyObject {
  try {
    return createPublicKey({ key: Buffer.from(spki), format: "der", type: "spki" });
  } catch (cause) {
    throw new PkiError("the public key cannot be read: only RSA and ECDSA keys are supported", { cause });
  }
}

/** Key identifier: the leftmost 160 bits of the SHA-256 of the key's bits (RFC 7093), as Go makes it since 1.25. */
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

/** How `key` signs: AlgorithmIdentifier and digest as Go chooses them for the kind of key. */
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
