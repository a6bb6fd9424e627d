import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock, systemRandom, type UserInfo } from "@capstan/apimachinery";
import { type ApiServer, createApiServer, memoryStore } from "@capstan/apiserver";
import { Cluster } from "@capstan/capi";
import { actingInProcess, type Dashboard, startDashboard } from "@capstan/dashboard-server";
import { Cache, Client, silentLogger } from "@capstan/runtime";
import { afterEach, beforeEach, expect, it } from "vitest";

/**
 * Attacker: a user that may see the clusters of one namespace and keeps the dashboard open. The prize is the names of other tenants'
 * clusters, which the stream must not even mention when they are deleted.
 */
const deps = { clock: systemClock, random: systemRandom };
const RBAC = "rbac.authorization.k8s.io";
const closing: (() => Promise<unknown>)[] = [];
let client: Client;
let dashboard: Dashboard;

const cluster = (namespace: string, name: string): Cluster => ({
  apiVersion: "cluster.x-k8s.io/v1beta2",
  kind: "Cluster",
  metadata: { namespace, name },
  spec: { paused: true },
});

beforeEach(async () => {
  const dir = await mkdtemp(join(tmpdir(), "tombstones-"));
  closing.push(() => rm(dir, { recursive: true }));
  await writeFile(join(dir, "index.html"), "__NONCE__");
  const api: ApiServer = await createApiServer({ store: memoryStore(), ...deps });
  closing.push(() => api.close());
  await api.registerCrds([Cluster.crd()]);
  client = new Client(api.admin(), { fieldManager: "test", clock: systemClock });
  for (const name of ["mine", "theirs"])
    await client.create({ apiVersion: "v1", kind: "Namespace", metadata: { name } });
  await client.create(cluster("mine", "one"));
  await client.create(cluster("theirs", "merger-with-acme"));
  await client.create({
    apiVersion: `${RBAC}/v1`,
    kind: "RoleBinding",
    metadata: { namespace: "mine", name: "tenant" },
    roleRef: { apiGroup: RBAC, kind: "ClusterRole", name: "cluster-admin" },
    subjects: [{ apiGroup: RBAC, kind: "User", name: "tenant" }],
  } as never);
  const cache = new Cache(client, { ...deps });
  cache.start();
  closing.push(() => cache.stop());
  dashboard = await startDashboard({
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
  closing.push(() => dashboard.close());
});
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function signIn(user: UserInfo): Promise<Record<string, string>> {
  const code = dashboard.signInLink(user).split("#")[1] ?? "";
  const response = await fetch(`${dashboard.url}/auth/session`, {
    method: "POST",
    body: JSON.stringify({ code }),
    headers: { "content-type": "application/json", origin: dashboard.url },
  });
  return { cookie: (response.headers.get("set-cookie") ?? "").split(";")[0] ?? "" };
}

/** What a stream sends until it has sent `until`. */
async function read(headers: Record<string, string>, after: string, until: string): Promise<string> {
  const response = await fetch(`${dashboard.url}/stream?topic=fleet${after}`, { headers });
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    text += decoder.decode(chunk, { stream: true });
    if (text.includes(until)) break;
  }
  return text;
}

const idIn = (text: string): string => `@${/id: (\S+)/.exec(text)?.[1] ?? ""}`;

it("does not name a deleted cluster to those who could not list it", async () => {
  const tenant = await signIn({ name: "tenant", groups: ["system:authenticated"] });
  const admin = await signIn({ name: "admin", groups: ["system:masters"] });
  const seen = await read(tenant, "", '"mine/one"');
  const adminSeen = await read(admin, "", '"theirs/merger-with-acme"');
  await client.delete(cluster("theirs", "merger-with-acme"));
  const told = await read(admin, idIn(adminSeen), '"del":["theirs/merger-with-acme"]');
  expect(told).toContain("merger-with-acme");
  await client.create(cluster("mine", "two"));
  const missed = await read(tenant, idIn(seen), '"mine/two"');
  expect(seen + missed).not.toContain("merger-with-acme");
});

it("names a deleted cluster to those who could list it", async () => {
  const tenant = await signIn({ name: "tenant", groups: ["system:authenticated"] });
  const seen = await read(tenant, "", '"mine/one"');
  await client.delete(cluster("mine", "one"));
  expect(await read(tenant, idIn(seen), '"del":["mine/one"]')).toContain("mine/one");
});
