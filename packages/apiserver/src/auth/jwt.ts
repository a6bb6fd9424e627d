import { constants, createHash, createPublicKey, type JsonWebKey, type KeyObject, sign, verify } from "node:crypto";
import { isObject } from "@capstan/apimachinery";

/** A JWT that has been taken apart; nothing in it is trusted before `verifyJwt`. */
export interface Jwt {
  readonly header: Readonly<Record<string, unknown>>;
  readonly claims: Readonly<Record<string, unknown>>;
  readonly signed: Buffer;
  readonly signature: Buffer;
}

/** Longer tokens are refused before they are parsed. */
const MAX_TOKEN = 64 * 1024;

/** Takes a compact JWS apart; undefined for anything else. */
export function parseJwt(token: string): Jwt | undefined {
  if (token.length > MAX_TOKEN) return undefined;
  const parts = token.split(".");
  const [header, claims, signature] = parts;
  if (parts.length !== 3 || header === undefined || claims === undefined || signature === undefined) return undefined;
  const parsed = { header: parsePart(header), claims: parsePart(claims) };
  if (parsed.header === undefined || parsed.claims === undefined) return undefined;
  return {
    header: parsed.header,
    claims: parsed.claims,
    signed: Buffer.from(`${header}.${claims}`, "latin1"),
    signature: Buffer.from(signature, "base64url"),
  };
}

function parsePart(part: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, "base64url").toString("utf8"));
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const EC_CURVES: Readonly<Record<string, string>> = { ES256: "prime256v1", ES384: "secp384r1", ES512: "secp521r1" };

/** Whether the signature is by `key` with the algorithm the header names; the kind of key must fit the algorithm. */
export function verifyJwt(jwt: Jwt, key: KeyObject, algorithms: readonly string[]): boolean {
  const { alg } = jwt.header;
  if (typeof alg !== "string" || !algorithms.includes(alg)) return false;
  const digest = `sha${alg.slice(2)}`;
  if (alg.startsWith("RS")) return key.asymmetricKeyType === "rsa" && verify(digest, jwt.signed, key, jwt.signature);
  if (alg.startsWith("PS")) {
    const pss = { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_AUTO };
    return key.asymmetricKeyType === "rsa" && verify(digest, jwt.signed, pss, jwt.signature);
  }
  if (alg.startsWith("ES")) {
    if (key.asymmetricKeyType !== "ec" || key.asymmetricKeyDetails?.namedCurve !== EC_CURVES[alg]) return false;
    return verify(digest, jwt.signed, { key, dsaEncoding: "ieee-p1363" }, jwt.signature);
  }
  return false;
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
export function signJwt(signer: SigningKey, claims: object): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value), "utf8").toString("base64url");
  const signed = `${part({ alg: signer.algorithm, kid: signer.keyId })}.${part(claims)}`;
  const digest = `sha${signer.algorithm.slice(2)}`;
  const signature = sign(digest, Buffer.from(signed, "latin1"), { key: signer.key, dsaEncoding: "ieee-p1363" });
  return `${signed}.${signature.toString("base64url")}`;
}
