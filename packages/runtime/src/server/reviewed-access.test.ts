import { request as httpsRequest } from "node:https";
import { seededRandom, systemClock, type Transport, VirtualClock } from "@capstan/apimachinery";
import { createApiServer, memoryStore } from "@capstan/apiserver";
import { createCertificateAuthority, createServiceAccountKey, issueCertificate } from "@capstan/pki";
import { afterEach, expect, test } from "vitest";
import { Client } from "../client/client.ts";
import { createMetrics } from "../metrics/prometheus.ts";
import { listenForMetrics } from "./metrics-endpoint.ts";
import { reviewedAccess } from "./reviewed-access.ts";

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function start() {
  const clock = new VirtualClock();
  const random = seededRandom(1);
  const signingKeyPem = (await createServiceAccountKey()).privateKeyPem;
  const server = await createApiServer({
    store: memoryStore(),
    clock,
    random,
    auth: { serviceAccounts: { signingKeyPem } },
  });
  cleanups.push(() => server.close());
  const client = new Client(server.admin(), { fieldManager: "x", clock });
  const inner = server.admin();
  let reviews = 0;
  const counting: Transport = {
    watch: (request, signal) => inner.watch(request, signal),
    close: () => inner.close(),
    request: (request, signal) => {
      if (request.path.endsWith("reviews")) reviews++;
      return inner.request(request, signal);
    },
  };
  const ca = await createCertificateAuthority({ commonName: "m", notBeforeMs: clock.now(), validMs: 1e9, random });
  const tls = await issueCertificate(ca, {
    commonName: "m",
    dnsNames: ["localhost"],
    usages: ["server"],
    nowMs: clock.now(),
    validMs: 1e9,
    random,
  });
  const metrics = await createMetrics({ clock, process: true });
  const access = reviewedAccess(new Client(counting, { fieldManager: "x", clock }), { clock });
  const endpoint = await listenForMetrics({
    clock: systemClock,
    address: { host: "127.0.0.1", port: 0 },
    metrics,
    secured: { tls, access },
  });
  cleanups.push(() => endpoint.close());
  const account = async (name: string): Promise<string> => {
    const metadata = { name, namespace: "default" };
    await client.create({ apiVersion: "v1", kind: "ServiceAccount", metadata });
    const { status } = await client.request<{ status: { token: string } }>({
      method: "POST",
      path: `/api/v1/namespaces/default/serviceaccounts/${name}/token`,
      body: { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: {} },
    });
    return status.token;
  };
  const get = (path: string, token?: string): Promise<{ status: number | undefined; text: string }> =>
    new Promise((resolve, reject) => {
      const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
      // The certificate's validity is virtual time.
      const options = { host: "127.0.0.1", port: endpoint.port, path, headers, rejectUnauthorized: false };
      httpsRequest(options, (response) => {
        let text = "";
        response.on("data", (chunk: Buffer) => {
          text += chunk.toString();
        });
        response.once("end", () => resolve({ status: response.statusCode, text }));
      })
        .once("error", reject)
        .end();
    });
  return { clock, client, account, get, reviews: () => reviews };
}

test("serves metrics to users whom the API server authenticates and authorizes", async () => {
  const { clock, client, account, get, reviews } = await start();
  const token = await account("prometheus");
  expect((await get("/metrics")).status).toBe(401);
  expect((await get("/metrics", "made-up")).status).toBe(401);
  expect((await get("/metrics", token)).status).toBe(403);
  const rbac = "rbac.authorization.k8s.io";
  await client.create({
    apiVersion: `${rbac}/v1`,
    kind: "ClusterRole",
    metadata: { name: "scrape" },
    rules: [{ nonResourceURLs: ["/metrics"], verbs: ["get"] }],
  });
  await client.create({
    apiVersion: `${rbac}/v1`,
    kind: "ClusterRoleBinding",
    metadata: { name: "scrape" },
    roleRef: { apiGroup: rbac, kind: "ClusterRole", name: "scrape" },
    subjects: [{ kind: "ServiceAccount", name: "prometheus", namespace: "default" }],
  });
  await clock.advance(10_000);
  const page = await get("/metrics", token);
  expect(page.status).toBe(200);
  expect(page.text).toContain("process_resident_memory_bytes");
  // Remembered: Prometheus asks every few seconds.
  const before = reviews();
  for (let i = 0; i < 5; i++) expect((await get("/metrics", token)).status).toBe(200);
  expect(reviews()).toBe(before);
  // What is allowed at one path is not at another.
  expect((await get("/secrets", token)).status).toBe(403);
  await client.delete({ apiVersion: `${rbac}/v1`, kind: "ClusterRoleBinding", metadata: { name: "scrape" } });
  await clock.advance(61_000);
  expect((await get("/metrics", token)).status).toBe(403);
});
