import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import { request as httpsRequest } from "node:https";
import { connect } from "node:net";
import type { TLSSocket } from "node:tls";
import { seededRandom, VirtualClock } from "@capstan/apimachinery";
import { createMetrics, type Metrics, silentLogger } from "@capstan/runtime";
import { afterEach, beforeEach, expect, test } from "vitest";
import { KINDS } from "./kinds.ts";
import { startWebhookServer, type WebhookServer } from "./webhook-server.ts";

let clock: VirtualClock;
let metrics: Metrics;
let server: WebhookServer;
let logged: string[];

beforeEach(async () => {
  logged = [];
  clock = new VirtualClock();
  metrics = await createMetrics({ clock });
  server = await startWebhookServer({
    listen: { host: "127.0.0.1", port: 0 },
    names: ["capstan-webhooks.capstan-system.svc"],
    kinds: KINDS,
    maxBytesAtOnce: 100_000,
    clock,
    random: seededRandom(1),
    metrics,
    log: { ...silentLogger, error: (message) => void logged.push(message) },
  });
});

afterEach(() => server.close());

interface Answer {
  status: number | undefined;
  text: string;
  certificate: X509Certificate;
}

function post(path: string, body: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    // The certificate's validity is virtual time, so it is looked at here instead.
    const options = {
      host: "127.0.0.1",
      port: server.port,
      path,
      method: "POST",
      agent: false,
      rejectUnauthorized: false,
    };
    httpsRequest(options, (response) => {
      const { raw } = (response.socket as TLSSocket).getPeerCertificate();
      let text = "";
      response.on("data", (chunk: Buffer) => {
        text += chunk.toString();
      });
      response.once("end", () => resolve({ status: response.statusCode, text, certificate: new X509Certificate(raw) }));
    })
      .once("error", reject)
      .end(body);
  });
}

const metadata = { name: "c1", namespace: "default" };
const ask = async (path: string, request: object): Promise<{ response: Record<string, unknown> }> =>
  JSON.parse((await post(path, JSON.stringify({ request: { uid: "u1", ...request } }))).text);

const figure = async (start: string): Promise<string | undefined> =>
  (await metrics.text()).body.split("\n").find((line) => line.startsWith(start));

test("objects are converted both ways", async () => {
  const infrastructureRef = { kind: "MemoryCluster", name: "m", apiVersion: "infrastructure.cluster.x-k8s.io/v1beta1" };
  const old = { apiVersion: "cluster.x-k8s.io/v1beta1", kind: "Cluster", metadata, spec: { infrastructureRef } };
  const stored = await ask("/convert", { desiredAPIVersion: "cluster.x-k8s.io/v1beta2", objects: [old] });
  expect(stored.response).toMatchObject({
    uid: "u1",
    result: { status: "Success" },
    convertedObjects: [{ apiVersion: "cluster.x-k8s.io/v1beta2", spec: { infrastructureRef: { name: "m" } } }],
  });
  const back = await ask("/convert?timeout=10s", {
    desiredAPIVersion: "cluster.x-k8s.io/v1beta1",
    objects: stored.response["convertedObjects"],
  });
  expect(back.response["convertedObjects"]).toMatchObject([{ apiVersion: "cluster.x-k8s.io/v1beta1", metadata }]);
  const unknown = await ask("/convert", { desiredAPIVersion: "x.io/v1", objects: [{ ...old, kind: "Lamp" }] });
  expect(unknown.response).toMatchObject({ result: { status: "Failure" }, convertedObjects: [] });
  expect(await figure('controller_runtime_webhook_requests_total{webhook="/convert",code="200"}')).toMatch(/ 3$/);
});

test("defaults are filled in and mistakes are refused, with the field", async () => {
  const type = { group: "cluster.x-k8s.io", version: "v1beta2", kind: "MachineDeployment" };
  const deployment = (clusterName: string) => ({
    apiVersion: "cluster.x-k8s.io/v1beta2",
    kind: "MachineDeployment",
    metadata,
    spec: {
      clusterName,
      selector: { matchLabels: { a: "b" } },
      template: {
        spec: {
          clusterName: "c1",
          bootstrap: { dataSecretName: "d" },
          infrastructureRef: { apiGroup: "infrastructure.cluster.x-k8s.io", kind: "MemoryMachineTemplate", name: "m" },
        },
      },
    },
  });
  const review = (object: object) => ({ operation: "CREATE", kind: type, object });
  const filled = await ask("/mutate", review(deployment("c1")));
  expect(filled.response).toMatchObject({ allowed: true, patchType: "JSONPatch" });
  const refused = await ask("/validate", review(deployment("c2")));
  expect(refused.response).toMatchObject({ allowed: false, status: { reason: "Invalid" } });
  expect(JSON.stringify(refused.response["status"])).toContain("spec.template.metadata.labels");
  // What the schema would have refused before: nobody learns more than that a rule broke, but for the log.
  const broken = await ask("/validate", review({ ...deployment("c1"), spec: { replicas: {} } }));
  expect(broken.response).toMatchObject({
    allowed: false,
    status: { code: 500, message: "the rules of this kind could not be checked" },
  });
  expect(logged).toEqual(["an admission rule failed"]);
});

test("what is no review is refused without a figure for every path", async () => {
  expect(await post("/validate", "{")).toMatchObject({ status: 400 });
  expect(await post("/validate", "{}")).toMatchObject({ status: 400, text: expect.stringContaining("request.kind") });
  expect(await post("/elsewhere", "{}")).toMatchObject({ status: 404 });
  expect(await figure('controller_runtime_webhook_requests_total{webhook="/validate",code="400"}')).toMatch(/ 2$/);
  expect((await metrics.text()).body).not.toContain("elsewhere");
  expect(await figure('controller_runtime_webhook_requests_in_flight{webhook="/validate"}')).toMatch(/ 0$/);
});

test("the certificate is for its names, by the authority it names, and renewed long before it ends", async () => {
  const authority = new X509Certificate(server.caPem);
  const first = (await post("/validate", "{}")).certificate;
  expect(first.verify(authority.publicKey)).toBe(true);
  expect(first.checkHost("capstan-webhooks.capstan-system.svc")).toBeDefined();
  await clock.advance(21 * 24 * 3_600_000);
  // Keys are made in threads, in real time.
  await expect.poll(() => figure("certwatcher_read_certificate_total")).toMatch(/ 2$/);
  const second = (await post("/validate", "{}")).certificate;
  expect(second.serialNumber).not.toBe(first.serialNumber);
  expect(second.verify(authority.publicKey)).toBe(true);
});

test("reads no more of all reviews at once than it has memory for", async () => {
  expect((await post("/convert", "x".repeat(100_001))).status).toBe(429);
  expect((await post("/convert", "x".repeat(90_000))).status).toBe(400);
  expect((await post("/convert", "x".repeat(90_000))).status).toBe(400);
  expect((await post("/elsewhere", "x".repeat(100_001))).status).toBe(404);
});

test("closes connections that send no request", async () => {
  const quiet = connect({ host: "127.0.0.1", port: server.port });
  quiet.on("error", () => undefined).resume();
  await once(quiet, "connect");
  // Connections are accepted in order: when this one is answered, the server has the other.
  await post("/convert", "{}");
  const closed = once(quiet, "close");
  await clock.advance(31_000);
  await closed;
});
