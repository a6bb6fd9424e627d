import { createSign, generateKeyPairSync } from "node:crypto";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { systemRandom } from "@capstan/apimachinery";
import { createCertificateAuthority, issueCertificate } from "@capstan/pki";

const DAY_MS = 24 * 3600_000;

/** An OpenID Connect issuer: discovery, one key, and tokens signed with it. */
export interface OidcIssuer {
  readonly url: string;
  readonly caPem: string;
  /** A token for a client, with these claims. */
  token(clientID: string, claims: object): string;
  close(): Promise<unknown>;
}

/** Serves on loopback with a certificate of its own authority. */
export async function startOidcIssuer(): Promise<OidcIssuer> {
  const nowMs = Date.now();
  const authority = await createCertificateAuthority({
    commonName: "issuer-ca",
    notBeforeMs: nowMs - DAY_MS,
    validMs: 30 * DAY_MS,
    random: systemRandom,
  });
  const serving = await issueCertificate(authority, {
    commonName: "issuer",
    organizations: [],
    dnsNames: [],
    ipAddresses: ["127.0.0.1"],
    usages: ["server"],
    nowMs,
    validMs: DAY_MS,
    random: systemRandom,
  });
  const { publicKey, privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const key = { ...publicKey.export({ format: "jwk" }), kid: "one", use: "sig", alg: "RS256" };
  let url = "";
  const server = createServer({ cert: serving.certPem, key: serving.keyPem }, (request, response) => {
    const discovery = {
      issuer: url,
      jwks_uri: `${url}/keys`,
      response_types_supported: ["id_token"],
      subject_types_supported: ["public"],
      id_token_signing_alg_values_supported: ["RS256"],
    };
    const body = request.url === "/keys" ? { keys: [key] } : discovery;
    response.setHeader("content-type", "application/json").end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
  return {
    url,
    caPem: authority.certPem,
    token: (clientID, claims) => {
      const second = Math.floor(Date.now() / 1000);
      const payload = { iss: url, aud: clientID, iat: second, exp: second + 600, ...claims };
      const text = `${encode({ alg: "RS256", kid: "one" })}.${encode(payload)}`;
      return `${text}.${createSign("sha256").update(text).sign(privateKey, "base64url")}`;
    },
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(resolve);
      }),
  };
}
