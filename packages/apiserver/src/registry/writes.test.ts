import { type Status, settle, type Unstructured } from "@capstan/apimachinery";
import { beforeEach, describe, expect, it } from "vitest";
import { objectOf, startTestServer, type TestServer, widgetCrd } from "../testing/server.ts";
import type { AdmissionPlugin } from "../types.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";
const WIDGETS = "/apis/example.test/v1/namespaces/default/widgets";
const MERGE = "application/merge-patch+json";
const APPLY = "application/apply-patch+yaml";

const map = (name: string, data?: Record<string, string>): Unstructured => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name },
  data,
});
const widget = (name: string, spec: object = {}, rest: object = {}): Unstructured => ({
  apiVersion: "example.test/v1",
  kind: "Widget",
  metadata: { name },
  spec,
  ...rest,
});

let t: TestServer;
beforeEach(async () => {
  t = await startTestServer({ controllers: false });
  await t.server.registerCrds([widgetCrd()]);
});

describe("create", () => {
  it("sets what only the server may set", async () => {
    const body = {
      ...widget("w", {}, { status: { ready: true } }),
      metadata: { name: "w", uid: "mine", creationTimestamp: "2000-01-01T00:00:00Z", generation: 9, selfLink: "/x" },
    };
    const made = objectOf(await t.post(WIDGETS, body));
    expect(made.metadata).toMatchObject({ generation: 1, creationTimestamp: "2026-01-01T00:00:00Z" });
    expect(made.metadata.uid).not.toBe("mine");
    expect(made["status"]).toBeUndefined();
    expect("selfLink" in made.metadata).toBe(false);
  });

  it("generates names", async () => {
    const body = { apiVersion: "v1", kind: "ConfigMap", metadata: { generateName: "pre-" } };
    const names = await Promise.all(
      Array.from({ length: 20 }, async () => objectOf(await t.post(MAPS, body)).metadata.name),
    );
    expect(new Set(names).size).toBe(20);
    for (const name of names) expect(name).toMatch(/^pre-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
  });

  it("lets only one of many concurrent creates win a name", async () => {
    const replies = await Promise.all(Array.from({ length: 10 }, () => t.post(MAPS, map("same"))));
    expect(replies.filter((r) => r.status === 201)).toHaveLength(1);
    expect(replies.filter((r) => r.status === 409)).toHaveLength(9);
  });

  it("needs a namespace that exists and matches the path", async () => {
    const reply = await t.post("/api/v1/namespaces/nope/configmaps", map("a"));
    expect(reply.body).toMatchObject({ code: 404, message: 'namespaces "nope" not found' });
    const other = { ...map("a"), metadata: { name: "a", namespace: "other" } };
    expect((await t.post(MAPS, other)).status).toBe(400);
  });

  it("does everything but write in a dry run", async () => {
    const reply = await t.post(MAPS, map("dry"), { dryRun: "All" });
    expect(reply.status).toBe(201);
    expect(objectOf(reply).metadata.uid).toBeDefined();
    expect((await t.get(`${MAPS}/dry`)).status).toBe(404);
  });

  it.each([
    ["Strict", 400, []],
    ["Warn", 201, ['unknown field "spec.bogus"']],
    ["Ignore", 201, []],
  ])("treats unknown fields by fieldValidation=%s", async (fieldValidation, status, warnings) => {
    const reply = await t.post(WIDGETS, widget("u", { bogus: 1, size: 1 }), { fieldValidation });
    expect(reply.status).toBe(status);
    expect(reply.warnings).toEqual(warnings);
    if (status === 201) expect(objectOf(reply)["spec"]).toEqual({ size: 1, colour: "red" });
  });

  it("never changes nor keeps the value it is given", async () => {
    const body = map("kept", { k: "v" });
    await t.post(MAPS, body);
    expect(body).toEqual(map("kept", { k: "v" }));
    expect(Object.isFrozen(body)).toBe(false);
    expect(Object.isFrozen(body["data"])).toBe(false);
  });
});

describe("update", () => {
  it("needs a resourceVersion for custom resources and not for most built-ins", async () => {
    await t.post(WIDGETS, widget("w"));
    await t.post(MAPS, map("m"));
    expect((await t.put(`${WIDGETS}/w`, widget("w"))).body).toMatchObject({
      code: 422,
      message:
        'widgets.example.test "w" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update',
    });
    expect((await t.put(`${MAPS}/m`, map("m", { a: "b" }))).status).toBe(200);
  });

  it("restores what clients may not change, and counts generations", async () => {
    const made = objectOf(await t.post(WIDGETS, widget("w", { size: 1 })));
    const changed = {
      ...made,
      spec: { size: 2 },
      status: { ready: true },
      metadata: { ...made.metadata, generation: 50, creationTimestamp: "2001-01-01T00:00:00Z" },
    };
    const put = objectOf(await t.put(`${WIDGETS}/w`, changed));
    expect(put.metadata).toMatchObject({ generation: 2, creationTimestamp: made.metadata.creationTimestamp });
    expect(put["status"]).toBeUndefined();
    const labelled = objectOf(await t.patch(`${WIDGETS}/w`, MERGE, { metadata: { labels: { a: "b" } } }));
    expect(labelled.metadata.generation).toBe(2);
  });

  it("creates missing Leases, not ConfigMaps", async () => {
    const lease = { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: { name: "l" }, spec: {} };
    const leases = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
    expect((await t.put(`${leases}/l`, lease)).status).toBe(201);
    expect((await t.put(`${MAPS}/none`, map("none"))).status).toBe(404);
  });

  it("separates status from the rest", async () => {
    const made = objectOf(await t.post(WIDGETS, widget("w", { size: 1 })));
    const body = {
      ...made,
      spec: { size: 9 },
      status: { ready: true },
      metadata: { ...made.metadata, labels: { x: "y" } },
    };
    const put = objectOf(await t.put(`${WIDGETS}/w/status`, body));
    expect(put).toMatchObject({ spec: { size: 1 }, status: { ready: true }, metadata: { generation: 1 } });
    expect(put.metadata.labels).toBeUndefined();
    expect(put.metadata.managedFields?.map((e) => [e.subresource, e.operation])).toEqual([
      [undefined, "Update"],
      ["status", "Update"],
    ]);
    const stale = await t.put(`${WIDGETS}/w/status`, body);
    expect(stale.status).toBe(409);
  });

  it("scales", async () => {
    await t.post(WIDGETS, widget("w", { replicas: 2 }));
    expect(objectOf(await t.get(`${WIDGETS}/w/scale`))).toMatchObject({
      kind: "Scale",
      apiVersion: "autoscaling/v1",
      spec: { replicas: 2 },
      status: { replicas: 0 },
    });
    const patched = await t.patch(`${WIDGETS}/w/scale`, MERGE, { spec: { replicas: 5 } });
    expect(objectOf(patched)["spec"]).toEqual({ replicas: 5 });
    expect(objectOf(await t.get(`${WIDGETS}/w`))).toMatchObject({ spec: { replicas: 5, colour: "red" } });
    await t.post(WIDGETS, widget("none"));
    expect((await t.get(`${WIDGETS}/none/scale`)).status).toBe(500);
  });
});

describe("patch", () => {
  it("is retried from the newest state when another client wrote during slow admission", async () => {
    let release: () => void = () => {};
    let slow = true;
    const gate: AdmissionPlugin = {
      name: "gate",
      handles: (type, operation) => type.plural === "configmaps" && operation === "UPDATE",
      mutate: () => {
        if (!slow) return undefined;
        slow = false;
        return new Promise<void>((resolve) => {
          release = resolve;
        });
      },
    };
    const gated = await startTestServer({ controllers: false, admission: [gate] });
    await gated.post(MAPS, map("m", { n: "0" }));
    const first = gated.patch(`${MAPS}/m`, MERGE, { data: { a: "1" } });
    await settle();
    await gated.patch(`${MAPS}/m`, MERGE, { data: { b: "2" } });
    release();
    expect(objectOf(await first)["data"]).toEqual({ n: "0", a: "1", b: "2" });
  });

  it("keeps every one of many concurrent changes", async () => {
    await t.post(MAPS, map("m"));
    await Promise.all(Array.from({ length: 50 }, (_, i) => t.patch(`${MAPS}/m`, MERGE, { data: { [`k${i}`]: "v" } })));
    expect(Object.keys(objectOf(await t.get(`${MAPS}/m`))["data"] as object)).toHaveLength(50);
  });

  it("refuses strategic merge for custom resources and force outside apply", async () => {
    await t.post(WIDGETS, widget("w"));
    expect((await t.patch(`${WIDGETS}/w`, "application/strategic-merge-patch+json", {})).status).toBe(415);
    expect((await t.patch(`${WIDGETS}/w`, MERGE, {}, { force: "true" })).status).toBe(422);
    expect((await t.patch(`${WIDGETS}/w`, APPLY, widget("w"))).status).toBe(422);
  });
});

describe("apply", () => {
  const manager = (fieldManager: string, force = false): Record<string, string> =>
    force ? { fieldManager, force: "true" } : { fieldManager };

  it("creates, is idempotent, conflicts, and takes over by force", async () => {
    const created = await t.patch(`${WIDGETS}/w`, APPLY, widget("w", { size: 1 }), manager("a"));
    expect(created.status).toBe(201);
    const again = await t.patch(`${WIDGETS}/w`, APPLY, widget("w", { size: 1 }), manager("a"));
    expect(again.status).toBe(200);
    expect(objectOf(again).metadata.resourceVersion).toBe(objectOf(created).metadata.resourceVersion);
    const conflict = await t.patch(`${WIDGETS}/w`, APPLY, widget("w", { size: 2 }), manager("b"));
    expect(conflict.body as Status).toMatchObject({
      code: 409,
      message: 'Apply failed with 1 conflict: conflict with "a": .spec.size',
    });
    const forced = await t.patch(`${WIDGETS}/w`, APPLY, widget("w", { size: 2 }), manager("b", true));
    expect(objectOf(forced)["spec"]).toEqual({ size: 2, colour: "red" });
  });

  it("leaves defaults unowned and removes what its manager drops", async () => {
    await t.patch(`${WIDGETS}/w`, APPLY, widget("w", { size: 1, tags: ["x"] }), manager("a"));
    const dropped = objectOf(await t.patch(`${WIDGETS}/w`, APPLY, widget("w", { tags: ["x"] }), manager("a")));
    expect(dropped["spec"]).toEqual({ colour: "red", tags: ["x"] });
    expect(JSON.stringify(dropped.metadata.managedFields)).not.toContain("colour");
  });

  it("owns status through its subresource only", async () => {
    await t.post(WIDGETS, widget("w"));
    const body = { apiVersion: "example.test/v1", kind: "Widget", metadata: { name: "w" }, status: { ready: true } };
    const applied = objectOf(await t.patch(`${WIDGETS}/w/status`, APPLY, body, manager("s")));
    expect(applied["status"]).toEqual({ ready: true });
    expect(applied.metadata.managedFields?.find((e) => e.manager === "s")).toMatchObject({
      operation: "Apply",
      subresource: "status",
      fieldsV1: { "f:status": { "f:ready": {} } },
    });
    const missing = { ...body, metadata: { name: "missing" } };
    expect((await t.patch(`${WIDGETS}/missing/status`, APPLY, missing, manager("s"))).status).toBe(404);
  });
});

describe("delete", () => {
  it("keeps an object with finalizers until the last is removed", async () => {
    await t.post(WIDGETS, { ...widget("w"), metadata: { name: "w", finalizers: ["example.test/a"] } });
    const watch = t.watch(WIDGETS);
    await settle();
    const deleted = objectOf(await t.delete(`${WIDGETS}/w`));
    expect(deleted.metadata).toMatchObject({ deletionGracePeriodSeconds: 0, generation: 2 });
    const again = objectOf(await t.delete(`${WIDGETS}/w`));
    expect(again.metadata.resourceVersion).toBe(deleted.metadata.resourceVersion);
    const added = await t.patch(`${WIDGETS}/w`, MERGE, {
      metadata: { finalizers: ["example.test/a", "example.test/b"] },
    });
    expect(added.status).toBe(422);
    const last = await t.patch(`${WIDGETS}/w`, MERGE, { metadata: { finalizers: [] }, spec: { size: 7 } });
    expect(objectOf(last)["spec"]).toMatchObject({ size: 7 });
    await settle();
    expect(watch.events.map((e) => e.type)).toEqual(["ADDED", "MODIFIED", "DELETED"]);
    // As upstream: the last stored state, not what the last request made of it.
    expect(watch.events[2]?.object.metadata.finalizers).toEqual(["example.test/a"]);
  });

  it.each([
    ["Foreground", ["foregroundDeletion"]],
    ["Orphan", ["orphan"]],
  ])("with %s leaves a finalizer for the garbage collector", async (propagationPolicy, finalizers) => {
    await t.post(WIDGETS, widget("w"));
    const reply = await t.delete(`${WIDGETS}/w`, { propagationPolicy });
    expect(objectOf(reply).metadata.finalizers).toEqual(finalizers);
  });

  it("checks preconditions", async () => {
    const made = objectOf(await t.post(WIDGETS, widget("w")));
    expect((await t.delete(`${WIDGETS}/w`, { preconditions: { uid: "x" } })).status).toBe(409);
    expect((await t.delete(`${WIDGETS}/w`, { preconditions: { resourceVersion: "1" } })).status).toBe(409);
    expect((await t.delete(`${WIDGETS}/w`, { preconditions: { uid: made.metadata.uid } })).status).toBe(200);
  });

  it("of a collection follows selectors", async () => {
    for (const [name, on] of [
      ["a", "y"],
      ["b", "n"],
      ["c", "y"],
    ]) {
      await t.post(MAPS, { ...map(name ?? ""), metadata: { name, labels: { on } } });
    }
    await t.delete(MAPS, undefined, { labelSelector: "on=y" });
    const left = (await t.get(MAPS)).body as { items: Unstructured[] };
    expect(left.items.map((o) => o.metadata.name)).toEqual(["b"]);
  });
});

describe("admission in process", () => {
  it("mutates, denies and warns, without changing the caller's object", async () => {
    const plugin: AdmissionPlugin = {
      name: "test",
      handles: (type) => type.plural === "configmaps",
      mutate: ({ object, warn }) => {
        if (object === undefined) return;
        object["data"] = { ...(object["data"] as object), added: "yes" };
        warn("be careful");
      },
      validate: ({ object }) => {
        if ((object?.["data"] as Record<string, string> | undefined)?.["bad"] !== undefined) throw new Error("boom");
      },
    };
    const s = await startTestServer({ controllers: false, admission: [plugin] });
    const reply = await s.post(MAPS, map("m", { k: "v" }));
    expect(reply.warnings).toEqual(["be careful"]);
    expect(objectOf(reply)["data"]).toEqual({ k: "v", added: "yes" });
    expect(JSON.stringify(objectOf(reply).metadata.managedFields)).not.toContain("added");
    const failed = await s.post(MAPS, map("n", { bad: "x" }));
    expect(failed.status).toBe(500);
    expect(JSON.stringify(failed.body)).not.toContain("boom");
    expect(s.failures).toHaveLength(1);
  });
});
