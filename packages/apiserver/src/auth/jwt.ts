import { createHash, createPublicKey, type JsonWebKey, type KeyObject } from "node:crypto";

/** A JWT that has been decoded; nothing in it is trusted before `verifyJwt`. */
export interface Jwt {
  readonly token: string;
  readonly header: Readonly<Record<string, unknown>>;
  readonly claims: Readonly<Record<string, unknown>>;
}

/** Longer tokens are refused before they are parsed. */
const MAX_TOKEN = 64 * 1024;

/** Loaded with the first token: a server whose clients have certificates never needs the library. */
const jose = () => import("jose");

/** Decodes a compact JWS; undefined for anything else, and for tokens with extensions that must be understood. */
export async function parseJwt(token: string): Promise<Jwt | undefined> {
  if (token.length > MAX_TOKEN) return undefined;
  const { decodeJwt, decodeProtectedHeader } = await jose();
  try {
    const header = decodeProtectedHeader(token);
    return header.crit === undefined ? { token, header, claims: decodeJwt(token) } : undefined;
  } catch {
    return undefined;
  }
}

const EC_CURVES: Readonly<Record<string, string>> = { ES256: "prime256v1", ES384: "secp384r1", ES512: "secp521r1" };

/** Whether the signature is by `key` with one of the algorithms; the type and curve of the key must fit the one that the header names. */
export async function verifyJwt(jwt: Jwt, key: KeyObject, algorithms: readonly string[]): Promise<boolean> {
  const { compactVerify } = await jose();
  try {
    await compactVerify(jwt.token, key, { algorithms: [...algorithms] });
    return true;
  } catch {
    // The key of another type throws a TypeError, a wrong signature an error of the library: neither key nor token is ours.
    return false;
  }
}

/** A key that signs tokens, with its public half as JSON web key. */
export interface SigningKey {
  readonly key: KeyObject;
  readonly publicKey: KeyObject;
  readonly algorithm: string;
  readonly keyId: string;
  readonly jwk: JsonWebKey;
}

/** Prepares a key; its id is the SHA-256 of its public half, as kube-apiserver makes it. */
export function signingKey(key: KeyObject): SigningKey {
  const publicKey = createPublicKey(key);
  const spki = publicKey.export({ type: "spki", format: "der" });
  const keyId = createHash("sha256").update(spki).digest("base64url");
  const curve = key.asymmetricKeyDetails?.namedCurve;
  const algorithm =
    key.asymmetricKeyType === "rsa" ? "RS256" : Object.keys(EC_CURVES).find((alg) => EC_CURVES[alg] === curve);
  if (algorithm === undefined)
    throw new Error("service-account signing key must be RSA or ECDSA (P-256, P-384, P-521)");
  const { kty, crv, x, y, n, e } = publicKey.export({ format: "jwk" });
  const jwk: JsonWebKey =
    kty === "EC"
      ? { use: "sig", kty: "EC", kid: keyId, crv: crv ?? "", alg: algorithm, x: x ?? "", y: y ?? "" }
      : { use: "sig", kty: "RSA", kid: keyId, alg: algorithm, n: n ?? "", e: e ?? "" };
  return { key, publicKey, algorithm, keyId, jwk };
}

/** Signs claims into a compact JWS. */
export async function signJwt(signer: SigningKey, claims: object): Promise<string> {
  const { CompactSign } = await jose();
  return new CompactSign(Buffer.from(JSON.stringify(claims), "utf8"))
    .setProtectedHeader({ alg: signer.algorithm, kid: signer.keyId })
    .sign(signer.key);
}
