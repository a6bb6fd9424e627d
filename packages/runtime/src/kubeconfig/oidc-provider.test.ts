import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { VirtualClock } from "@capstan/apimachinery";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { CredentialSource } from "../transport/client-config.ts";
import { loadKubeconfig } from "./load.ts";

const clock = new VirtualClock();
let dir: string;
let server: Server;
let issuer: string;
/** The requests to the issuer, and its responses. */
let asked: { form: URLSearchParams; authorization: string | undefined }[];
let answer: () => { status: number; body: object };

/** As a real one, but for the signature, which is the API server's to check. */
function token(name: string, lifeMs: number): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
  return `${part({ alg: "none" })}.${part({ sub: name, exp: (clock.now() + lifeMs) / 1000 })}.x`;
}

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), "oidc-"));
  asked = [];
  server = createServer((request, response) => {
    const send = (status: number, body: object): void => {
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    };
    if (request.url === "/.well-known/openid-configuration") return send(200, { token_endpoint: `${issuer}/token` });
    void read(request).then((text) => {
      asked.push({ form: new URLSearchParams(text), authorization: request.headers.authorization });
      const { status, body } = answer();
      send(status, body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  rmSync(dir, { recursive: true });
});

async function read(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of request) text += String(chunk);
  return text;
}

async function load(config: Record<string, string>): Promise<{ credentials: CredentialSource; path: string }> {
  const path = join(dir, "config");
  const lines = Object.entries({ "idp-issuer-url": issuer, "client-id": "kube", ...config });
  const text = `# mine
current-context: one
clusters: [{name: c, cluster: {server: 'https://one.example'}}]
contexts: [{name: one, context: {cluster: c, user: u}}]
users:
- name: u # me
  user:
    auth-provider:
      name: oidc
      config:
${lines.map(([key, value]) => `        ${key}: ${JSON.stringify(value)}`).join("\n")}
`;
  writeFileSync(path, text, { mode: 0o600 });
  const { credentials } = await loadKubeconfig({ clock, path, environment: {} });
  if (credentials === undefined) throw new Error("no credentials");
  return { credentials, path };
}

test("uses an ID token until shortly before it expires, then refreshes it and saves both new tokens", async () => {
  const first = token("first", 60_000);
  const { credentials, path } = await load({ "id-token": first, "refresh-token": "r1", "client-secret": "s:1" });
  expect(await credentials.get()).toEqual({ token: first });
  expect(asked).toEqual([]);
  await clock.advance(55_000);
  const second = token("second", 60_000);
  answer = () => ({ status: 200, body: { id_token: second, refresh_token: "r2" } });
  const both = await Promise.all([credentials.get(), credentials.get()]);
  expect(both).toEqual([{ token: second }, { token: second }]);
  expect(asked.map(({ form }) => Object.fromEntries(form))).toEqual([
    { grant_type: "refresh_token", refresh_token: "r1" },
  ]);
  expect(asked[0]?.authorization).toBe(`Basic ${Buffer.from("kube:s%3A1").toString("base64")}`);
  const text = readFileSync(path, "utf8");
  expect(text).toContain("# mine");
  expect(text).toContain("name: u # me");
  expect(statSync(path).mode & 0o777).toBe(0o600);
  // The next program continues from there.
  const next = (await loadKubeconfig({ clock, path, environment: {} })).credentials;
  expect(await next?.get()).toEqual({ token: second });
  await clock.advance(60_000);
  answer = () => ({ status: 200, body: { id_token: token("third", 60_000) } });
  await next?.get();
  expect(asked[1]?.form.get("refresh_token")).toBe("r2");
});

test("sends its ID as a public client, and refreshes a rejected token", async () => {
  const { credentials } = await load({ "id-token": token("first", 60_000), "refresh-token": "r1" });
  const refused = await credentials.get();
  answer = () => ({ status: 200, body: { id_token: token("second", 60_000) } });
  expect(credentials.invalidate(refused)).toBe(true);
  expect(await credentials.get()).not.toEqual(refused);
  expect(asked[0]?.form.get("client_id")).toBe("kube");
  expect(asked[0]?.authorization).toBeUndefined();
});

test.each([
  ["no way to a new token", {}, undefined, /no refresh-token: sign in again/],
  [
    "a refusal",
    { "refresh-token": "r1" },
    { status: 400, body: { error: "invalid_grant", t: "s3cret" } },
    /invalid_grant/,
  ],
  ["no ID token", { "refresh-token": "r1" }, { status: 200, body: { access_token: "s3cret" } }, /no id_token/],
])("a clear error, never with a token: %s", async (_, config, said, message) => {
  const { credentials } = await load({ "id-token": token("old", -1), ...config });
  answer = () => said ?? { status: 500, body: {} };
  const error = await credentials.get().then(String, (thrown: Error) => thrown.message);
  expect(error).toMatch(message);
  expect(error).not.toContain("s3cret");
});
