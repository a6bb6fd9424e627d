import { seededRandom, systemClock, VirtualClock } from "@capstan/apimachinery";
import { createApiServer, memoryStore } from "@capstan/apiserver";
import { expect, test } from "vitest";
import { Cache } from "../cache/cache.ts";
import { Client } from "../client/client.ts";
import { controller } from "../controller/builder.ts";
import { done } from "../controller/result.ts";
import { startControllers } from "../controller/start-controllers.ts";
import { silentRecorder } from "../events/recorder.ts";
import { kindRef } from "../kind.ts";
import { silentLogger } from "../log/logger.ts";
import { listenForProbes } from "../server/probes.ts";
import { measuredTransport } from "./measured-transport.ts";
import { createMetrics } from "./prometheus.ts";

const Namespace = kindRef({ group: "", version: "v1", kind: "Namespace", plural: "namespaces", namespaced: false });

test("serves metrics under controller-runtime's names, and health, readiness and version", async () => {
  const clock = new VirtualClock();
  const random = seededRandom(1);
  const server = await createApiServer({ store: memoryStore(), clock, random, controllers: false });
  const metrics = await createMetrics({ clock });
  const transport = measuredTransport(server.admin(), metrics, "embedded");
  const cache = new Cache(new Client(transport, { fieldManager: "x", clock }), { clock, random });
  metrics.watchObjects(cache);
  const stop = new AbortController();
  const failing = controller("ns")
    .for(Namespace)
    .concurrency(2)
    .reconcile(({ name }) => {
      if (name === "stuck") return new Promise(() => undefined);
      if (name === "mistaken") throw new TypeError("undefined is not a function");
      return name === "bad" ? Promise.reject(new Error("no")) : Promise.resolve(done());
    });
  startControllers(
    [failing],
    { cache, clock, random, log: silentLogger, recorder: silentRecorder, metrics },
    stop.signal,
  );
  for (const name of ["good", "bad"]) {
    await cache.client.create({ apiVersion: "v1", kind: "Namespace", metadata: { name } });
  }
  await clock.advance(12);
  const { body } = await metrics.text();
  expect(body).toContain('controller_runtime_reconcile_panics_total{controller="ns"} 0');
  const line = (start: string): string | undefined => body.split("\n").find((text) => text.startsWith(start));
  expect(line('controller_runtime_reconcile_errors_total{controller="ns"}')).toMatch(/ 2$/);
  expect(line('controller_runtime_reconcile_total{controller="ns",result="error"}')).toMatch(/ 2$/);
  expect(line('controller_runtime_max_concurrent_reconciles{controller="ns"}')).toMatch(/ 2$/);
  expect(line('controller_runtime_reconcile_time_seconds_count{controller="ns"}')).toBeDefined();
  expect(line('workqueue_retries_total{name="ns",controller="ns"}')).toMatch(/ 2$/);
  expect(line('workqueue_depth{name="ns",controller="ns",priority="0"}')).toMatch(/ 0$/);
  expect(line('workqueue_adds_total{name="ns",controller="ns"}')).toBeDefined();
  expect(line('rest_client_requests_total{code="201",method="POST",host="embedded"}')).toMatch(/ 2$/);
  const created = Math.floor(Date.UTC(2026, 0, 1) / 1000);
  expect(
    line('capstan_controller_creation_timestamp{controller="ns",kind="Namespace",namespace="",name="good"}'),
  ).toMatch(new RegExp(` ${created}$`));
  expect(line('capstan_controller_last_reconciled{controller="ns",kind="Namespace"}')).toBeDefined();

  // A stuck reconcile is visible, and so is an object whose deletion is blocked.
  await cache.client.create({ apiVersion: "v1", kind: "Namespace", metadata: { name: "mistaken" } });
  await cache.client.create({
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name: "stuck", finalizers: ["x.io/a"] },
  });
  await clock.advance(10);
  await cache.client.delete({ kind: Namespace, name: "stuck" });
  await clock.advance(30_000);
  const later = (await metrics.text()).body.split("\n");
  const value = (start: string): number =>
    Number(
      later
        .find((text) => text.startsWith(start))
        ?.split(" ")
        .at(-1),
    );
  expect(value('workqueue_longest_running_processor_seconds{name="ns",controller="ns"}')).toBeCloseTo(30, 0);
  expect(value('workqueue_unfinished_work_seconds{name="ns",controller="ns"}')).toBeCloseTo(30, 0);
  expect(
    value('capstan_controller_deletion_timestamp{controller="ns",kind="Namespace",namespace="",name="stuck"}'),
  ).toBe(created);
  expect(later.some((text) => text.startsWith("capstan_controller_deletion_timestamp") && text.includes("good"))).toBe(
    false,
  );
  expect(value('controller_runtime_reconcile_panics_total{controller="ns"}')).toBeGreaterThan(0);

  let ready = false;
  const probes = await listenForProbes({
    clock: systemClock,
    address: { host: "127.0.0.1", port: 0 },
    version: { gitVersion: "v0.1.0" },
    ready: {
      cache: () => {
        if (!ready) throw new Error("secret detail");
      },
    },
  });
  const get = async (path: string): Promise<{ status: number; text: string }> => {
    const response = await fetch(`http://127.0.0.1:${probes.port}${path}`);
    return { status: response.status, text: await response.text() };
  };
  expect(await get("/healthz")).toEqual({ status: 200, text: "ok" });
  expect(await get("/readyz")).toEqual({ status: 500, text: "[+]ping ok\n[-]cache failed\nreadyz check failed\n" });
  expect(await get("/readyz?exclude=cache")).toEqual({ status: 200, text: "ok" });
  expect((await get("/readyz/ping")).status).toBe(200);
  ready = true;
  expect((await get("/readyz?verbose")).text).toContain("[+]cache ok");
  expect(JSON.parse((await get("/version")).text)).toEqual({ gitVersion: "v0.1.0" });
  expect((await get("/metrics")).status).toBe(404);
  expect((await get("/constructor")).status).toBe(404);
  await probes.close();
  stop.abort();
  await cache.stop();
  await server.close();
});
