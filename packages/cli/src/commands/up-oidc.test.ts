import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { rootCertificates } from "node:tls";
import { afterAll, beforeAll, expect, test } from "vitest";
import { oidcOf } from "./up-oidc.run.ts";

let dir: string;
const caPem = rootCertificates[0] ?? "";
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "capstan-oidc-"));
  await writeFile(join(dir, "ca.crt"), caPem);
  await writeFile(join(dir, "none.crt"), "-----BEGIN CERTIFICATE-----\n");
});
afterAll(() => rm(dir, { recursive: true, force: true }));

const io = { out: () => undefined, err: () => undefined, env: {}, interactive: false };

test("configures no issuer without options", async () => {
  expect(await oidcOf({ arguments: [], options: { data: "x" }, lists: {}, io })).toBeUndefined();
});

test("converts options to the issuer's rules; empty values keep the default", async () => {
  const options = {
    oidcIssuerUrl: "https://idp.example/realm/",
    oidcClientId: "capstan",
    oidcUsernameClaim: "email",
    oidcUsernamePrefix: "-",
    oidcGroupsClaim: "groups",
    oidcGroupsPrefix: "",
    oidcSigningAlgs: "RS256, ES256",
    oidcCaFile: join(dir, "ca.crt"),
  };
  const lists = { oidcRequiredClaim: ["hd=example.com", "note=a=b"] };
  expect(await oidcOf({ arguments: [], options, lists, io })).toEqual({
    issuerUrl: "https://idp.example/realm/",
    clientId: "capstan",
    usernameClaim: "email",
    usernamePrefix: "-",
    groupsClaim: "groups",
    requiredClaims: { hd: "example.com", note: "a=b" },
    signingAlgorithms: ["RS256", "ES256"],
    caPem,
  });
});

const ISSUER = { oidcIssuerUrl: "https://idp.example", oidcClientId: "x" };
const at = (oidcIssuerUrl: string): Record<string, string> => ({ oidcIssuerUrl, oidcClientId: "x" });

// The rules and their messages are those of kube-apiserver.
test.each<[Record<string, string>, string]>([
  [{ oidcGroupsClaim: "groups" }, "must be specified together"],
  [at(""), "must be specified together"],
  [at("idp"), "is not a URL such as"],
  [at("http://idp.example"), "URL scheme must be https"],
  [at("https://idp.example?a=b"), "must not contain a query"],
  [at("https://idp.example#a"), "must not contain a fragment"],
  [at("https://a:b@idp.example"), "must not contain a username or password"],
  [{ ...ISSUER, oidcSigningAlgs: "RS256,HS256" }, '"HS256" is not supported'],
])("rejects %j as a usage error", async (options, message) => {
  const refused = oidcOf({ arguments: [], options, lists: {}, io });
  await expect(refused).rejects.toMatchObject({ message: expect.stringContaining(message), exitCode: 2 });
  await expect(refused).rejects.not.toThrow("a:b");
});

test("names invalid claims, and options that lack an issuer", async () => {
  const lists = { oidcRequiredClaim: ["hd"] };
  await expect(oidcOf({ arguments: [], options: ISSUER, lists, io })).rejects.toThrow(
    "--oidc-required-claim hd is not of the form claim=value",
  );
  await expect(oidcOf({ arguments: [], options: { oidcClientId: "x" }, lists, io })).rejects.toMatchObject({
    hint: "given: --oidc-client-id, --oidc-required-claim",
  });
});

test("rejects a CA file that is missing or holds no certificate at once", async () => {
  const withCa = (oidcCaFile: string): Promise<unknown> =>
    oidcOf({ arguments: [], options: { ...ISSUER, oidcCaFile }, lists: {}, io });
  await expect(withCa("/does/not/exist")).rejects.toThrow("--oidc-ca-file /does/not/exist cannot be read: ENOENT");
  await expect(withCa(join(dir, "none.crt"))).rejects.toThrow("holds no PEM certificate");
});
