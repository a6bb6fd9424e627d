import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseYaml } from "@capstan/apimachinery";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { Reader } from "../docs/reader.ts";
import { Shell } from "../docs/shell.ts";
import { type OidcIssuer, startOidcIssuer } from "../e2e/oidc-issuer.ts";

/** `capstan up` with an issuer of ID tokens on loopback, asked over HTTPS as people's programs ask. */
const MAIN = fileURLToPath(new URL("../../packages/cli/dist/main.js", import.meta.url));

let dir: string;
let issuer: OidcIssuer;
const started: ChildProcess[] = [];

const OURS = "--listen 127.0.0.1:0 --dashboard off";

async function up(name: string, ...args: string[]): Promise<{ dataDir: string; text(): string }> {
  const dataDir = join(dir, name);
  const child = spawn(process.execPath, [MAIN, "up", "--data", dataDir, ...OURS.split(" "), ...args]);
  return { dataDir, text: await upText(child) };
}

/** What a process prints, once it is up. */
async function upText(child: ChildProcess): Promise<() => string> {
  started.push(child);
  let text = "";
  for (const stream of [child.stdout, child.stderr])
    stream?.on("data", (chunk: Buffer) => {
      text += chunk.toString();
    });
  await vi.waitFor(() => expect(text).toContain("Next:"), { timeout: 30_000 });
  return () => text;
}

/** Who the API takes the bearer of a token for. */
async function whoIs(dataDir: string, token: string): Promise<{ status: number; user?: unknown }> {
  const config = parseYaml(await readFile(join(dataDir, "kubeconfig"), "utf8")) as {
    clusters: { cluster: { server: string; "certificate-authority-data": string } }[];
  };
  const { server, "certificate-authority-data": ca } = config.clusters[0]?.cluster ?? { server: "" };
  const url = new URL("/apis/authentication.k8s.io/v1/selfsubjectreviews", server);
  const body = JSON.stringify({ apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" });
  return await new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const options = { method: "POST", headers, ca: Buffer.from(ca ?? "", "base64") };
    const asked = request(url, options, (answer) => {
      let text = "";
      answer.on("data", (chunk: Buffer) => {
        text += chunk.toString();
      });
      answer.on("end", () => {
        const { status } = JSON.parse(text) as { status?: { userInfo?: unknown } };
        resolve({ status: answer.statusCode ?? 0, user: status?.userInfo });
      });
    });
    asked.on("error", reject).end(body);
  });
}

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "capstan-up-oidc-"));
  issuer = await startOidcIssuer();
  await writeFile(join(dir, "issuer.crt"), issuer.caPem);
});

afterAll(async () => {
  for (const child of started) child.kill("SIGKILL");
  await issuer.close();
  await rm(dir, { recursive: true, force: true });
});

test("users sign in with tokens of the issuer that the options name", async () => {
  const issuedBy = `--oidc-issuer-url ${issuer.url} --oidc-client-id capstan --oidc-ca-file ${join(dir, "issuer.crt")}`;
  const names =
    "--oidc-username-claim email --oidc-username-prefix - --oidc-groups-claim groups --oidc-groups-prefix idp:";
  const flags = `${issuedBy} ${names} --oidc-required-claim hd=example.com`;
  const { dataDir } = await up("good", ...flags.split(" "));
  const claims = { sub: "1", email: "ada@example.com", groups: ["ops"], hd: "example.com" };
  expect(await whoIs(dataDir, issuer.token("capstan", claims))).toEqual({
    status: 201,
    user: { username: "ada@example.com", groups: ["idp:ops", "system:authenticated"] },
  });
  expect(await whoIs(dataDir, issuer.token("another", claims))).toMatchObject({ status: 401 });
  expect(await whoIs(dataDir, issuer.token("capstan", { ...claims, hd: "evil.com" }))).toMatchObject({ status: 401 });
  expect(await whoIs(dataDir, issuer.token("capstan", { ...claims, exp: 1 }))).toMatchObject({ status: 401 });
}, 60_000);

test("the guide's command works", async () => {
  const shell = await Shell.make(MAIN);
  try {
    const reader = new Reader("docs/guides/security.md", "tests/cli/up-oidc.test.ts");
    const command = reader.command("Secure", "capstan up", {
      own: { "https://login.example.com": issuer.url },
      more: `--oidc-ca-file ${join(dir, "issuer.crt")} ${OURS}`,
    });
    await upText(spawn("bash", ["-c", `exec ${command}`], { cwd: shell.dir, env: shell.environment }));
    const token = issuer.token("capstan", { sub: "1", email: "ada@example.com", groups: ["ops"] });
    expect(await whoIs(shell.dataDir, token)).toEqual({
      status: 201,
      user: { username: "ada@example.com", groups: ["idp:ops", "system:authenticated"] },
    });
    expect(reader.untyped()).toEqual([]);
  } finally {
    started.pop()?.kill("SIGKILL");
    await shell.close();
  }
}, 60_000);

test("reports an issuer with an untrusted certificate at the start, and rejects its tokens", async () => {
  const { dataDir, text } = await up("bad", "--oidc-issuer-url", issuer.url, "--oidc-client-id", "capstan");
  await vi.waitFor(() => expect(text()).toMatch(/oidc: authenticator not initialized: .*certificate/), {
    timeout: 10_000,
  });
  expect(await whoIs(dataDir, issuer.token("capstan", { sub: "1" }))).toMatchObject({ status: 401 });
}, 60_000);
