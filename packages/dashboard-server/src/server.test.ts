import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { request as httpRequest } from "node:http";
import { request as httpsRequest, type RequestOptions } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock, systemRandom } from "@capstan/apimachinery";
import { type ApiServer, createApiServer, memoryStore } from "@capstan/apiserver";
import { Cluster } from "@capstan/capi";
import { createCertificateAuthority, issueCertificate } from "@capstan/pki";
import { Cache, Client, silentLogger } from "@capstan/runtime";
import { afterAll, beforeAll, expect, test } from "vitest";
import { actingInProcess } from "./acting.ts";
import { type Dashboard, startDashboard } from "./dashboard.ts";

const deps = { clock: systemClock, random: systemRandom };
const reader = { name: "reader", groups: ["system:authenticated"] };
const admin = { name: "boss", groups: ["system:masters"] };
let dir = "";
let api: ApiServer;
let client: Client;
let cache: Cache;
let dashboard: Dashboard;

const cluster = (namespace: string, name: string): Cluster => ({
  apiVersion: "cluster.x-k8s.io/v1beta2",
  kind: "Cluster",
  metadata: { namespace, name },
  spec: { paused: true },
});

async function start(): Promise<Dashboard> {
  return await startDashboard({
    pageDir: dir,
    listen: { host: "127.0.0.1", port: 0 },
    dataDir: dir,
    acting: actingInProcess(api),
    cache,
    providers: [{ name: "core", title: "Cluster API", kinds: [Cluster] }],
    version: "test",
    log: silentLogger,
    ...deps,
  });
}

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "dashboard-"));
  await writeFile(join(dir, "index.html"), '<meta name="csp-nonce" content="__NONCE__">');
  api = await createApiServer({ store: memoryStore(), ...deps });
  await api.registerCrds([Cluster.crd()]);
  client = new Client(api.admin(), { fieldManager: "test", clock: systemClock });
  await client.create({ apiVersion: "v1", kind: "Namespace", metadata: { name: "edge" } });
  for (const [namespace, name] of [
    ["default", "one"],
    ["edge", "two"],
  ] as const)
    await client.create(cluster(namespace, name));
  const rules = [{ apiGroups: ["cluster.x-k8s.io"], resources: ["clusters"], verbs: ["get", "list", "watch"] }];
  const rbac = "rbac.authorization.k8s.io";
  await client.create({
    apiVersion: `${rbac}/v1`,
    kind: "Role",
    metadata: { namespace: "edge", name: "r" },
    rules,
  } as never);
  await client.create({
    apiVersion: `${rbac}/v1`,
    kind: "RoleBinding",
    metadata: { namespace: "edge", name: "r" },
    roleRef: { apiGroup: rbac, kind: "Role", name: "r" },
    subjects: [{ apiGroup: rbac, kind: "User", name: "reader" }],
  } as never);
  cache = new Cache(client, { ...deps });
  cache.start();
  dashboard = await start();
});

afterAll(async () => {
  await dashboard.close();
  await cache.stop();
  await api.close();
  await rm(dir, { recursive: true });
});

const origin = (): Record<string, string> => ({ origin: dashboard.url });
const call = (path: string, init: RequestInit = {}): Promise<Response> => fetch(`${dashboard.url}${path}`, init);
const post = (path: string, body: object, headers: Record<string, string> = {}): Promise<Response> =>
  call(path, {
    method: "POST",
    body: JSON.stringify(body),
    headers: { "content-type": "application/json", ...origin(), ...headers },
  });

async function signIn(user: typeof reader): Promise<{ cookie: string }> {
  const code = dashboard.signInLink(user).split("#")[1] ?? "";
  const response = await post("/auth/session", { code });
  expect(response.status).toBe(200);
  return { cookie: (response.headers.get("set-cookie") ?? "").split(";")[0] ?? "" };
}

/** The events of a stream until one satisfies `enough`. */
async function readStream(
  path: string,
  headers: Record<string, string>,
  enough: (text: string) => boolean,
): Promise<string> {
  const response = await call(path, { headers });
  expect(response.status).toBe(200);
  let text = "";
  const decoder = new TextDecoder();
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    text += decoder.decode(chunk, { stream: true });
    if (enough(text)) break;
  }
  return text;
}

test("serves only the dashboard's own files without a session", async () => {
  const page = await call("/clusters");
  expect(page.status).toBe(200);
  expect(page.headers.get("content-security-policy")).toMatch(/nonce-/);
  expect(await page.text()).not.toContain("__NONCE__");
  for (const path of [
    "/k8s/api/v1/namespaces",
    "/stream?topic=fleet",
    "/auth/session",
    "/kubeconfig/default/one",
    "/control-planes",
  ])
    expect((await call(path)).status).toBe(401);
});

test("a link works once; scripts and other sites cannot read the cookie", async () => {
  const code = dashboard.signInLink(admin).split("#")[1] ?? "";
  const first = await post("/auth/session", { code });
  expect(first.headers.get("set-cookie")).toMatch(/HttpOnly; SameSite=Strict/);
  expect(await first.json()).toMatchObject({ user: "boss" });
  expect((await post("/auth/session", { code })).status).toBe(401);
  expect((await post("/auth/session", { token: "nonsense" })).status).toBe(401);
  expect((await post("/auth/session", {})).status).toBe(401);
});

test("a token signs in for as long as the API accepts it", async () => {
  await client.create({ apiVersion: "v1", kind: "ServiceAccount", metadata: { namespace: "default", name: "bot" } });
  const { body } = await api.admin().request({
    method: "POST",
    path: "/api/v1/namespaces/default/serviceaccounts/bot/token",
    body: { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", metadata: {}, spec: { audiences: [] } },
  });
  const { token } = (body as { status: { token: string } }).status;
  const response = await post("/auth/session", { token });
  expect(await response.json()).toMatchObject({ user: "system:serviceaccount:default:bot" });
  const cookie = (response.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
  expect((await call("/k8s/api/v1/namespaces/default/secrets", { headers: { cookie } })).status).toBe(403);
  await client.delete({ apiVersion: "v1", kind: "ServiceAccount", metadata: { namespace: "default", name: "bot" } });
  for (const path of ["/auth/session", "/control-planes"])
    expect((await call(path, { headers: { cookie } })).status).toBe(401);
});

test("a session reports where its user may see and create clusters", async () => {
  const of = async (user: typeof reader): Promise<unknown> => {
    const response = await call("/auth/session", { headers: await signIn(user) });
    return ((await response.json()) as { clusters: unknown }).clusters;
  };
  expect(await of(admin)).toEqual({ see: "everywhere", create: "everywhere" });
  expect(await of(reader)).toEqual({ see: "somewhere", create: "nowhere" });
  expect(await of({ name: "stranger", groups: ["system:authenticated"] })).toEqual({
    see: "nowhere",
    create: "nowhere",
  });
});

test("reports the Kubernetes versions that are currently installed", async () => {
  const headers = await signIn(reader);
  const home = async (): Promise<unknown> => await (await call("/control-planes", { headers })).json();
  expect(await home()).toEqual({ placement: "Process", versions: [] });
  const bin = join(dir, "kubernetes/v1.34.4/bin");
  await mkdir(bin, { recursive: true });
  for (const name of ["etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler"])
    await writeFile(join(bin, name), "", { mode: 0o755 });
  expect(await home()).toEqual({ placement: "Process", versions: ["v1.34.4"] });
});

test("rejects other hosts and origins", async () => {
  const status = await new Promise<number | undefined>((resolve) => {
    httpRequest(`${dashboard.url}/`, { headers: { host: "evil.example" } }, (response) => {
      response.resume();
      resolve(response.statusCode);
    }).end();
  });
  expect(status).toBe(421);
  expect((await post("/auth/session", {}, { origin: "http://evil.example" })).status).toBe(403);
});

test("sends every request with the user's own permissions", async () => {
  const headers = await signIn(reader);
  const get = (path: string): Promise<Response> => call(path, { headers });
  expect((await get("/k8s/apis/cluster.x-k8s.io/v1beta2/namespaces/edge/clusters")).status).toBe(200);
  expect((await get("/k8s/apis/cluster.x-k8s.io/v1beta2/namespaces/default/clusters")).status).toBe(403);
  const removal = await call("/k8s/apis/cluster.x-k8s.io/v1beta2/namespaces/edge/clusters/two", {
    method: "DELETE",
    headers: { ...headers, ...origin() },
  });
  expect(removal.status).toBe(403);
  for (const path of ["/k8s/metrics", "/k8s/api/v1/../../metrics", "/k8s/api/v1/namespaces?watch=true"])
    expect((await get(path)).status).toBeGreaterThanOrEqual(400);
});

test("the stream contains what its user may list, follows changes, and resumes with what was missed", async () => {
  const headers = await signIn(reader);
  const first = await readStream("/stream?topic=fleet", headers, (text) => text.includes('"two"'));
  expect(first).not.toContain('"one"');
  const id = /id: (\S+)/.exec(first)?.[1] ?? "";
  await client.create(cluster("edge", "three"));
  const missed = await readStream(`/stream?topic=fleet@${id}`, headers, (text) => text.includes('"three"'));
  expect(missed).not.toContain('"two"');
  const other = await readStream(`/stream?topic=fleet@elsewhere.9`, headers, (text) => text.includes('"three"'));
  expect(other).toContain('"reset":true');
  expect(other).toContain('"two"');
  expect((await call("/stream?topic=nonsense", { headers })).status).toBe(404);
});

test("a session survives a restart, and ends when the user signs out", async () => {
  const headers = await signIn(admin);
  await dashboard.close();
  dashboard = await start();
  // The cookie's name holds the port, which is another one in this test.
  const port = new URL(dashboard.url).port;
  const cookie = headers.cookie.replace(/^capstan-\d+/, `capstan-${port}`);
  expect((await call("/auth/session", { headers: { cookie } })).status).toBe(200);
  await call("/auth/session", { method: "DELETE", headers: { cookie, ...origin() } });
  expect((await call("/auth/session", { headers: { cookie } })).status).toBe(401);
});

test("hides the content of Secrets unless it is requested", async () => {
  const headers = await signIn(admin);
  await client.create({
    apiVersion: "v1",
    kind: "Secret",
    metadata: { namespace: "default", name: "one-kubeconfig" },
    data: { value: Buffer.from("hush").toString("base64") },
  } as never);
  const path = "/k8s/api/v1/namespaces/default/secrets/one-kubeconfig";
  expect(await (await call(path, { headers })).text()).not.toContain("aHVzaA");
  expect(await (await call(`${path}?reveal=true`, { headers })).text()).toContain("aHVzaA");
  const file = await call("/kubeconfig/default/one", { headers });
  expect(file.headers.get("content-disposition")).toContain("one.kubeconfig");
  expect(await file.text()).toBe("hush");
  expect((await call("/kubeconfig/edge/two", { headers })).status).toBe(404);
  expect((await call("/kubeconfig/default/one", { headers: await signIn(reader) })).status).toBe(403);
});

test("serves with TLS on other addresses than loopback, and signs in with a client certificate", async () => {
  const listen = { host: "0.0.0.0", port: 0 };
  const options = {
    pageDir: dir,
    listen,
    dataDir: dir,
    acting: actingInProcess(api),
    cache,
    providers: [{ name: "core", title: "Cluster API", kinds: [Cluster] }],
    version: "test",
    log: silentLogger,
    ...deps,
  };
  await expect(startDashboard(options)).rejects.toThrow("loopback only");
  const nowMs = systemClock.now();
  const validMs = 3600_000;
  const ca = await createCertificateAuthority({
    commonName: "ca",
    notBeforeMs: nowMs - validMs,
    validMs: 2 * validMs,
    ...deps,
  });
  const serving = await issueCertificate(ca, {
    commonName: "dashboard",
    dnsNames: ["localhost"],
    usages: ["server"],
    nowMs,
    validMs,
    ...deps,
  });
  const jane = await issueCertificate(ca, {
    commonName: "jane",
    organizations: ["dev"],
    usages: ["client"],
    nowMs,
    validMs,
    ...deps,
  });
  const secure = await startDashboard({
    ...options,
    tls: { certPem: serving.certPem, keyPem: serving.keyPem, clientCaPem: ca.certPem },
  });
  const attempt = (more: RequestOptions): Promise<{ status: number | undefined; cookie: string; body: string }> =>
    new Promise((resolve, reject) => {
      const headers = { origin: secure.url, "content-type": "application/json" };
      const call = httpsRequest(
        `${secure.url}/auth/session`,
        { method: "POST", ca: ca.certPem, headers, agent: false, ...more },
        (response) => {
          let body = "";
          response.on("data", (chunk: Buffer) => {
            body += chunk.toString("utf8");
          });
          response.on("end", () =>
            resolve({ status: response.statusCode, cookie: String(response.headers["set-cookie"]), body }),
          );
        },
      );
      call.on("error", reject);
      call.end(JSON.stringify({ certificate: true }));
    });
  try {
    expect((await attempt({})).status).toBe(401);
    const { status, cookie, body } = await attempt({ cert: jane.certPem, key: jane.keyPem });
    expect(status).toBe(200);
    expect(cookie).toMatch(/^__Host-.*Secure/);
    expect(JSON.parse(body)).toMatchObject({ user: "jane", groups: expect.arrayContaining(["dev"]) });
  } finally {
    await secure.close();
  }
});
