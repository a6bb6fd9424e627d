import { settle } from "@capstan/apimachinery";
import { describe, expect, it } from "vitest";
import { memoryStore } from "./store/memory-store.ts";
import { type Store, type StoreEntry, StoreError } from "./store/store.ts";
import { objectOf, startTestServer, widgetCrd } from "./testing/server.ts";

const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
const WIDGETS = "/apis/example.test/v1/namespaces/default/widgets";

const configMap = (name: string, data: Record<string, string> = {}): object => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name },
  data,
});

const widget = (name: string, spec: object = {}): object => ({
  apiVersion: "example.test/v1",
  kind: "Widget",
  metadata: { name },
  spec,
});

describe("a built-in kind", () => {
  it("is created, read, changed, patched and deleted", async () => {
    const t = await startTestServer();
    const created = await t.post(CONFIG_MAPS, configMap("a", { k: "1" }));
    expect(created.status, JSON.stringify(created.body)).toBe(201);
    const first = objectOf(created);
    expect(first.metadata.uid).toMatch(/^[0-9a-f-]{36}$/);
    expect(first.metadata.creationTimestamp).toBe("2026-01-01T00:00:00Z");
    expect(first.metadata.managedFields?.[0]).toMatchObject({
      manager: "unknown",
      operation: "Update",
      apiVersion: "v1",
    });
    expect(first.metadata.generation).toBeUndefined();

    const again = await t.post(CONFIG_MAPS, configMap("a"));
    expect(again.status).toBe(409);
    expect(again.body).toMatchObject({ reason: "AlreadyExists", message: 'configmaps "a" already exists' });

    const got = await t.get(`${CONFIG_MAPS}/a`);
    expect(got.body).toBe(created.body);

    const put = await t.put(`${CONFIG_MAPS}/a`, configMap("a", { k: "2" }));
    expect(put.status).toBe(200);
    expect(objectOf(put)["data"]).toEqual({ k: "2" });
    const stale = await t.put(`${CONFIG_MAPS}/a`, first);
    expect(stale.status).toBe(409);

    const merge = await t.patch(`${CONFIG_MAPS}/a`, "application/merge-patch+json", { data: { x: "y", k: null } });
    expect(objectOf(merge)["data"]).toEqual({ x: "y" });
    const json = await t.patch(`${CONFIG_MAPS}/a`, "application/json-patch+json", [
      { op: "add", path: "/data/z", value: "1" },
    ]);
    expect(objectOf(json)["data"]).toEqual({ x: "y", z: "1" });
    const strategic = await t.patch(`${CONFIG_MAPS}/a`, "application/strategic-merge-patch+json", {
      data: { z: null },
    });
    expect(objectOf(strategic)["data"]).toEqual({ x: "y" });

    const noop = await t.patch(`${CONFIG_MAPS}/a`, "application/merge-patch+json", { data: { x: "y" } });
    expect(objectOf(noop).metadata.resourceVersion).toBe(objectOf(strategic).metadata.resourceVersion);

    const removed = await t.delete(`${CONFIG_MAPS}/a`);
    expect(removed.body).toMatchObject({
      kind: "Status",
      status: "Success",
      details: { name: "a", kind: "configmaps", uid: first.metadata.uid },
    });
    expect((await t.get(`${CONFIG_MAPS}/a`)).status).toBe(404);
    expect(t.failures).toEqual([]);
  });
});

describe("a custom resource", () => {
  it("is served as soon as its CRD is created", async () => {
    const t = await startTestServer();
    const crd = await t.post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", widgetCrd());
    expect(crd.status, JSON.stringify(crd.body)).toBe(201);
    const created = await t.post(WIDGETS, widget("w", { size: 1 }));
    expect(created.status, JSON.stringify(created.body)).toBe(201);
    expect(objectOf(created)["spec"]).toEqual({ size: 1, colour: "red" });
    expect(objectOf(created).metadata.generation).toBe(1);

    const applied = await t.patch(
      `${WIDGETS}/w`,
      "application/apply-patch+yaml",
      { apiVersion: "example.test/v1", kind: "Widget", spec: { tags: ["x"] } },
      { fieldManager: "me" },
    );
    expect(applied.status, JSON.stringify(applied.body)).toBe(200);
    expect(objectOf(applied)["spec"]).toEqual({ size: 1, colour: "red", tags: ["x"] });
    expect(objectOf(applied).metadata.generation).toBe(2);

    const status = await t.patch(`${WIDGETS}/w/status`, "application/merge-patch+json", {
      status: { ready: true },
      spec: { size: 9 },
    });
    expect(objectOf(status)["status"]).toEqual({ ready: true });
    expect(objectOf(status)["spec"]).toEqual({ size: 1, colour: "red", tags: ["x"] });
    expect(objectOf(status).metadata.generation).toBe(2);

    const bad = await t.post(WIDGETS, widget("bad", { size: -1 }));
    expect(bad.status).toBe(422);
    expect(bad.body).toMatchObject({
      message:
        'Widget.example.test "bad" is invalid: spec.size: Invalid value: -1: spec.size in body should be greater than or equal to 0',
    });
    expect(t.failures).toEqual([]);
  });

  it("is watched with selectors", async () => {
    const t = await startTestServer();
    await t.server.registerCrds([widgetCrd()]);
    const watch = t.watch(WIDGETS, { labelSelector: "on=yes" });
    await t.post(WIDGETS, widget("w"));
    await t.patch(`${WIDGETS}/w`, "application/merge-patch+json", { metadata: { labels: { on: "yes" } } });
    await t.patch(`${WIDGETS}/w`, "application/merge-patch+json", { spec: { size: 2 } });
    const left = await t.patch(`${WIDGETS}/w`, "application/merge-patch+json", { metadata: { labels: { on: "no" } } });
    await settle();
    watch.stop();
    await watch.done;
    expect(watch.events.map((e) => e.type)).toEqual(["ADDED", "MODIFIED", "DELETED"]);
    expect(watch.events[2]?.object.metadata.labels).toEqual({ on: "yes" });
    expect(watch.events[2]?.object.metadata.resourceVersion).toBe(objectOf(left).metadata.resourceVersion);
  });

  it("disappears with its CRD, instances first", async () => {
    const t = await startTestServer();
    await t.server.registerCrds([widgetCrd()]);
    await t.post(WIDGETS, widget("w"));
    const held = await t.post(WIDGETS, {
      ...widget("held"),
      metadata: { name: "held", finalizers: ["example.test/hold"] },
    });
    expect(held.status).toBe(201);
    const watch = t.watch(WIDGETS);
    await settle();
    const deleted = await t.delete("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.test");
    expect(objectOf(deleted).metadata.finalizers).toEqual(["customresourcecleanup.apiextensions.k8s.io"]);
    await settle();
    const refused = await t.post(WIDGETS, widget("late"));
    expect(refused.status).toBe(403);
    expect(refused.body).toMatchObject({
      message: expect.stringContaining("create not allowed while custom resource definition is terminating"),
    });
    await t.patch(`${WIDGETS}/held`, "application/merge-patch+json", { metadata: { finalizers: null } });
    await t.clock.advance(10);
    await watch.done;
    expect(watch.events.map((e) => `${e.type} ${e.object.metadata.name}`)).toEqual(
      expect.arrayContaining(["ADDED w", "ADDED held", "DELETED w", "MODIFIED held", "DELETED held"]),
    );
    expect((await t.get(WIDGETS)).status).toBe(404);
    expect(t.failures).toEqual([]);
  });
});

describe("a store that cannot write", () => {
  /** A store in memory that refuses to write while `error` is set and `entries` match. */
  function failing(): { store: Store; fail: { error?: StoreError; when?: (entries: StoreEntry[]) => boolean } } {
    const store = memoryStore();
    const fail: ReturnType<typeof failing>["fail"] = {};
    const commit = store.commit.bind(store);
    store.commit = (entries) =>
      fail.error !== undefined && (fail.when?.(entries) ?? true) ? Promise.reject(fail.error) : commit(entries);
    return { store, fail };
  }
  const full = (): StoreError => new StoreError("the disk is full", "Free some space.");

  it("returns a 503 that names cause and cure, and keeps serving reads", async () => {
    const { store, fail } = failing();
    const t = await startTestServer({ store, controllers: false });
    fail.error = full();
    const body = configMap("c");
    const refused = await t.post(CONFIG_MAPS, body);
    expect(refused.status).toBe(503);
    expect(refused.body).toMatchObject({
      reason: "ServiceUnavailable",
      message: "the disk is full. Free some space.",
    });
    expect(t.failures).toEqual([fail.error]);
    expect((await t.get(CONFIG_MAPS)).status).toBe(200);
    delete fail.error;
    expect((await t.post(CONFIG_MAPS, body)).status).toBe(201);
  });

  it("and needs a restart makes the server unhealthy", async () => {
    const { store } = failing();
    let problem: string | undefined;
    store.problem = () => problem;
    const t = await startTestServer({ store, controllers: false });
    expect(await t.get("/readyz")).toMatchObject({ status: 200, body: "ok" });
    problem = "another process has written. Restart.";
    for (const path of ["/readyz", "/livez", "/healthz"]) {
      const { status, body } = await t.get(path);
      expect(status).toBe(500);
      expect(body).toContain(`[+]ping ok\n[-]store failed: ${problem}\n`);
    }
  });

  it("does not leave a deleted CRD behind", async () => {
    const { store, fail } = failing();
    const t = await startTestServer({ store, controllers: false });
    await t.server.registerCrds([widgetCrd()]);
    fail.when = (entries) => entries.some(({ bytes }) => bytes === null);
    fail.error = full();
    await t.delete("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.test");
    await settle();
    expect(t.failures).toEqual([fail.error]);
    await t.clock.advance(2_000);
    expect(t.failures).toHaveLength(2);
    delete fail.error;
    await t.clock.advance(2_000);
    expect(t.server.internal.list({ group: "apiextensions.k8s.io", plural: "customresourcedefinitions" })).toEqual([]);
    await t.clock.advance(10_000);
    expect(t.failures).toHaveLength(2);
  });
});
