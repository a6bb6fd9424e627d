import { settle, type WatchEvent } from "@capstan/apimachinery";
import { beforeEach, describe, expect, it } from "vitest";
import { objectOf, startTestServer, type TestServer, widgetCrd } from "../testing/server.ts";

const PATH = "/api/v1/namespaces/default/configmaps";

let t: TestServer;
const add = (name: string): Promise<unknown> =>
  t.post(PATH, { apiVersion: "v1", kind: "ConfigMap", metadata: { name } });
const shown = (events: readonly WatchEvent[]): string[] =>
  events.map((e) => `${e.type} ${e.object.metadata?.name ?? ""}`.trim());

beforeEach(async () => {
  t = await startTestServer({ controllers: false });
});

describe("watches", () => {
  it("start with what exists, then follow", async () => {
    await add("a");
    const watch = t.watch(PATH);
    await settle();
    await add("b");
    await t.delete(`${PATH}/a`);
    await settle();
    expect(shown(watch.events)).toEqual(["ADDED a", "ADDED b", "DELETED a"]);
    const [added, , deleted] = watch.events;
    expect(Number(deleted?.object.metadata.resourceVersion)).toBeGreaterThan(
      Number(added?.object.metadata.resourceVersion),
    );
  });

  it("continue after a revision without a gap", async () => {
    await add("a");
    const at = objectOf(await t.get(`${PATH}/a`)).metadata.resourceVersion ?? "";
    await add("b");
    const watch = t.watch(PATH, { resourceVersion: at });
    await settle();
    await add("c");
    await settle();
    expect(shown(watch.events)).toEqual(["ADDED b", "ADDED c"]);
  });

  it("show computed objects as a list does, and make clients list again when they change", async () => {
    const path = "/apis/apiregistration.k8s.io/v1/apiservices";
    const list = (await t.get(path)).body as { items: { metadata: { name: string } }[] };
    const watch = t.watch(path);
    await settle();
    expect(shown(watch.events)).toEqual(list.items.map(({ metadata }) => `ADDED ${metadata.name}`));
    await t.post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", widgetCrd());
    await watch.done;
    expect(watch.events.at(-1)).toMatchObject({ type: "ERROR", object: { code: 410, reason: "Expired" } });
  });

  it("report 410 in the stream when the history is compacted", async () => {
    const small = await startTestServer({ controllers: false });
    for (let i = 0; i < 11_500; i += 500) {
      const batch = Array.from({ length: 500 }, (_, n) =>
        small.post(PATH, { apiVersion: "v1", kind: "ConfigMap", metadata: { name: `n${i + n}` } }),
      );
      await Promise.all(batch);
    }
    const watch = small.watch(PATH, { resourceVersion: "1" });
    await watch.done;
    expect(watch.events).toHaveLength(1);
    expect(watch.events[0]).toMatchObject({ type: "ERROR", object: { code: 410, reason: "Expired" } });
  });

  it("end the initial state of a WatchList with an annotated bookmark of the watched kind", async () => {
    await add("a");
    const watch = t.watch(PATH, {
      sendInitialEvents: "true",
      resourceVersionMatch: "NotOlderThan",
      allowWatchBookmarks: "true",
    });
    await settle();
    await add("b");
    await settle();
    expect(watch.events.map((e) => e.type)).toEqual(["ADDED", "BOOKMARK", "ADDED"]);
    expect(watch.events[1]?.object).toMatchObject({
      kind: "ConfigMap",
      apiVersion: "v1",
      metadata: { annotations: { "k8s.io/initial-events-end": "true" } },
    });
  });

  it("send bookmarks every minute and before the end", async () => {
    const watch = t.watch(PATH, { allowWatchBookmarks: "true", timeoutSeconds: "90" });
    await settle();
    await t.clock.advance(60_000);
    expect(watch.events.map((e) => e.type)).toEqual(["BOOKMARK"]);
    await t.clock.advance(28_000);
    expect(watch.events).toHaveLength(2);
    await t.clock.advance(2_000);
    await watch.done;
    expect(watch.events).toHaveLength(2);
  });

  it("end by themselves after half an hour to an hour", async () => {
    const watch = t.watch(PATH);
    await settle();
    let ended = false;
    void watch.done.then(() => {
      ended = true;
    });
    await t.clock.advance(29 * 60_000);
    expect(ended).toBe(false);
    await t.clock.advance(32 * 60_000);
    expect(ended).toBe(true);
  });

  it("are refused before they start with a plain error", async () => {
    const watch = t.watch(PATH, { sendInitialEvents: "true" });
    await expect(watch.done).rejects.toMatchObject({ code: 422 });
    await expect(t.watch(PATH, { fieldSelector: "x=1" }).done).rejects.toMatchObject({ code: 400 });
    await expect(t.watch("/apis/nope.test/v1/things").done).rejects.toMatchObject({ code: 404 });
  });

  it("end when their CRD changes or is deleted", async () => {
    await t.server.registerCrds([widgetCrd()]);
    const watch = t.watch("/apis/example.test/v1/widgets");
    await settle();
    await t.delete("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.test");
    await watch.done;
    expect(watch.events).toEqual([]);
  });

  it("do not see no-op writes", async () => {
    await add("a");
    const watch = t.watch(PATH);
    await settle();
    await t.patch(`${PATH}/a`, "application/merge-patch+json", { metadata: { labels: null } });
    await settle();
    expect(shown(watch.events)).toEqual(["ADDED a"]);
  });

  it("deliver one shared event object to all watchers of a version", async () => {
    const [one, two] = [t.watch(PATH), t.watch(PATH)];
    await settle();
    await add("a");
    await settle();
    expect(one.events[0]?.object).toBe(two.events[0]?.object);
  });

  it("show Tables with headers only once", async () => {
    const accept = { accept: "application/json;as=Table;g=meta.k8s.io;v=v1" };
    const events: WatchEvent[] = [];
    const abort = new AbortController();
    const request = { method: "GET" as const, path: PATH, headers: accept };
    const done = (async () => {
      for await (const event of t.admin.watch(request, abort.signal)) events.push(event);
    })();
    await settle();
    await add("a");
    await add("b");
    await settle();
    abort.abort();
    await done;
    expect(events.map((e) => e.object["columnDefinitions"] !== null)).toEqual([true, false]);
    expect(events.map((e) => (e.object["rows"] as unknown[]).length)).toEqual([1, 1]);
  });
});
