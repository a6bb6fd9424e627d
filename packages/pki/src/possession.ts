import { sign, verify } from "node:crypto";
import { readPrivateKey, readPublicKeyInfo } from "./keys.ts";
import { parseCertificate } from "./parse.ts";

const CHALLENGE = Buffer.from("capstan: proof that this private key belongs to this certificate");
/** These hash what they sign themselves. */
const WITHOUT_DIGEST: ReadonlySet<string | undefined> = new Set(["ed25519", "ed448"]);

/**
 * Whether a private key belongs to a certificate, as a TLS handshake would prove it: by a signature. Comparing public keys is not enough,
 * because a private key file carries a public part that need not be its own.
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
