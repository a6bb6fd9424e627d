import { createHmac, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { describe, expect, it } from "vitest";
import { parseJwt, signingKey, signJwt, verifyJwt } from "./jwt.ts";

const ALGORITHMS = ["RS256", "ES256"];
const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
const other = generateKeyPairSync("ec", { namedCurve: "P-256" });
const CLAIMS = { iss: "us", sub: "u" };

const part = (value: object | string): string =>
  Buffer.from(typeof value === "string" ? value : JSON.stringify(value)).toString("base64url");
const signed = (header: object, claims: object | string = CLAIMS): string => {
  const text = `${part(header)}.${part(claims)}`;
  return `${text}.${sign("sha256", Buffer.from(text), privateKey).toString("base64url")}`;
};
const accepts = async (token: string, key: KeyObject = publicKey): Promise<boolean> => {
  const jwt = await parseJwt(token);
  return jwt !== undefined && verifyJwt(jwt, key, ALGORITHMS);
};

describe("JWTs", () => {
  it("accepts its own signature, with RSA and with ECDSA", async () => {
    for (const key of [privateKey, other.privateKey]) {
      const signer = signingKey(key);
      const token = await signJwt(signer, CLAIMS);
      expect(await accepts(token, signer.publicKey)).toBe(true);
      expect((await parseJwt(token))?.header).toEqual({ alg: signer.algorithm, kid: signer.keyId });
    }
    expect(await accepts(signed({ alg: "RS256" }))).toBe(true);
  });

  const hmac = (): string => {
    const text = `${part({ alg: "HS256" })}.${part(CLAIMS)}`;
    const secret = publicKey.export({ type: "spki", format: "pem" });
    return `${text}.${createHmac("sha256", secret).update(text).digest("base64url")}`;
  };
  it.each<[string, string]>([
    ["no algorithm", `${part({ alg: "none" })}.${part(CLAIMS)}.`],
    ["the public key as a shared secret", hmac()],
    ["an algorithm outside the list", signed({ alg: "RS384" })],
    ["an algorithm of another type of key", signed({ alg: "ES256" })],
    ["an extension that must be understood", signed({ alg: "RS256", crit: ["b64"], b64: true })],
    ["claims that are no object", signed({ alg: "RS256" }, "[1]")],
    ["more than 64 KiB", signed({ alg: "RS256" }, { ...CLAIMS, more: "x".repeat(64 * 1024) })],
    ["two parts", signed({ alg: "RS256" }).split(".").slice(0, 2).join(".")],
    ["five parts", `${signed({ alg: "RS256" })}.a.b`],
  ])("refuses %s", async (_, token) => {
    expect(await accepts(token)).toBe(false);
  });

  it("refuses the signature of another key of the same type", async () => {
    const stranger = generateKeyPairSync("rsa", { modulusLength: 2048 });
    expect(await accepts(signed({ alg: "RS256" }), stranger.publicKey)).toBe(false);
  });

  // RFC 7518, section 3.3.
  it("refuses RSA keys shorter than 2048 bits", async () => {
    const short = generateKeyPairSync("rsa", { modulusLength: 1024 });
    const text = `${part({ alg: "RS256" })}.${part(CLAIMS)}`;
    const token = `${text}.${sign("sha256", Buffer.from(text), short.privateKey).toString("base64url")}`;
    expect(await accepts(token, short.publicKey)).toBe(false);
    await expect(signJwt(signingKey(short.privateKey), CLAIMS)).rejects.toThrow("2048 bits");
  });

  // As Go's encoding/json does.
  it("takes the last of two claims of the same name", async () => {
    const jwt = await parseJwt(signed({ alg: "RS256" }, '{"sub":"a","sub":"b"}'));
    expect(jwt?.claims["sub"]).toBe("b");
  });
});
