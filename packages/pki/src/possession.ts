import { sign, verify } from "node:crypto";
import { readPrivateKey, readPublicKeyInfo } from "./keys.ts";
import { parseCertificate } from "./parse.ts";

const CHALLENGE = Buffer.from("capstan: proof that this private key belongs to this certificate");
/** These hash what they sign themselves. */
const WITHOUT_DIGEST: ReadonlySet<string | undefined> = new Set(["ed25519", "ed448"]);

/**
 * Returns whether a private key belongs to a certificate, proven by a signature as in a TLS handshake. Comparing public keys is not enough,
 * because the public part of a private key file can be forged.
 */
export function ownsCertificate(certPem: string, keyPem: string): boolean {
  const publicKey = readPublicKeyInfo(parseCertificate(certPem).publicKeyInfo);
  const privateKey = readPrivateKey(keyPem);
  if (privateKey.asymmetricKeyType !== publicKey.asymmetricKeyType) return false;
  const digest = WITHOUT_DIGEST.has(publicKey.asymmetricKeyType) ? null : "sha256";
  try {
    return verify(digest, CHALLENGE, publicKey, sign(digest, CHALLENGE, privateKey));
  } catch {
    // OpenSSL notices some keys that contradict themselves when it signs.
    return false;
  }
}
