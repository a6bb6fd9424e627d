import { settle, type Unstructured, VirtualClock } from "@capstan/apimachinery";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { memoryStore } from "./memory-store.ts";
import { openObjectStore } from "./object-store.ts";
import type { Mutation, ObjectStore, StoredChange, StoredObject } from "./object-store.types.ts";
import { CompactedError, type Store } from "./store.ts";

const object = (name: string, value: string): Unstructured => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, namespace: "a" },
  data: { value },
});
const keyFor = (name: string): string => `core/configmaps/a/${name}`;
const put = (name: string, value: string) => (): Mutation => ({ type: "put", object: object(name, value) });
const remove = (): Mutation => ({ type: "delete" });
const valueOf = (stored: StoredObject | undefined): unknown =>
  (stored?.object["data"] as Record<string, unknown> | undefined)?.["value"];

async function open(store: Store = memoryStore(), ring = 10_000): Promise<ObjectStore> {
  return openObjectStore(store, { clock: new VirtualClock(), ring });
}

/** A store whose commits wait for the test's word. */
function gated(): { store: Store; release: (error?: Error) => void; waiting: () => number } {
  const inner = memoryStore();
  const gates: { resolve: () => void; reject: (e: Error) => void }[] = [];
  const store: Store = {
    ...bind(inner),
    async commit(entries) {
      await new Promise<void>((resolve, reject) => gates.push({ resolve, reject }));
      await inner.commit(entries);
    },
  };
  return {
    store,
    waiting: () => gates.length,
    release(error) {
      const gate = gates.shift();
      if (error === undefined) gate?.resolve();
      else gate?.reject(error);
    },
  };
}

function bind(store: Store): Store {
  return {
    load: () => store.load(),
    commit: (entries) => store.commit(entries),
    readAt: (revision, prefix) => store.readAt(revision, prefix),
    readLog: (revision) => store.readLog(revision),
    compact: (revision) => store.compact(revision),
    backup: (path) => store.backup(path),
    close: () => store.close(),
  };
}

describe("mutate", () => {
  it("sets the resourceVersion, freezes the object and encodes it once", async () => {
    const store = await open();
    const { stored, changed } = await store.mutate(keyFor("x"), put("x", "1"));
    expect(changed).toBe(true);
    expect(stored?.revision).toBe(1);
    expect(stored?.object.metadata.resourceVersion).toBe("1");
    expect(Object.isFrozen(stored?.object["data"])).toBe(true);
    expect(JSON.parse(stored?.bytes.toString() ?? "")).toEqual(stored?.object);
    expect(store.get(keyFor("x"))).toBe(stored);
  });

  it("takes an object that shares frozen parts with the stored one, and leaves those alone", async () => {
    const store = await open();
    const first = (await store.mutate(keyFor("x"), put("x", "1"))).stored;
    const second = (
      await store.mutate(keyFor("x"), (current) =>
        current === undefined ? { type: "none" } : { type: "put", object: { ...current.object, extra: 1 } },
      )
    ).stored;
    expect(first?.object.metadata.resourceVersion).toBe("1");
    expect(second?.object.metadata.resourceVersion).toBe("2");
    expect(second?.object["data"]).toBe(first?.object["data"]);
  });

  it("reports the last state under the deletion's revision", async () => {
    const store = await open();
    await store.mutate(keyFor("x"), put("x", "1"));
    const { stored } = await store.mutate(keyFor("x"), remove);
    expect(stored?.revision).toBe(2);
    expect(stored?.object.metadata.resourceVersion).toBe("2");
    expect(valueOf(stored)).toBe("1");
    expect(store.get(keyFor("x"))).toBeUndefined();
    expect(JSON.parse(stored?.bytes.toString() ?? "").metadata.resourceVersion).toBe("2");
  });

  it("refuses a name that cannot be stored without harming others", async () => {
    const store = await open();
    const good = store.mutate(keyFor("x"), put("x", "1"));
    await expect(store.mutate(keyFor("é".repeat(1000)), put("y", "1"))).rejects.toThrow("too long to be stored");
    expect((await good).changed).toBe(true);
  });

  it("does not use a revision for a mutation that changes nothing or refuses", async () => {
    const store = await open();
    await store.mutate(keyFor("x"), put("x", "1"));
    expect(await store.mutate(keyFor("x"), () => ({ type: "none" }))).toMatchObject({ changed: false });
    expect(await store.mutate(keyFor("y"), remove)).toEqual({ changed: false, stored: undefined });
    await expect(
      store.mutate(keyFor("x"), () => {
        throw new Error("no");
      }),
    ).rejects.toThrow("no");
    expect(store.revision()).toBe(1);
  });
});

describe("pending and durable", () => {
  it("decisions see pending writes, reads and watches only durable ones", async () => {
    const { store: slow, release } = gated();
    const store = await open(slow);
    const events: StoredChange[] = [];
    store.subscribe("core/configmaps/", 0, (changes) => events.push(...changes));
    const first = store.mutate(keyFor("x"), put("x", "1"));
    await settle();
    expect(store.get(keyFor("x"))).toBeUndefined();
    expect(valueOf(store.peek(keyFor("x")))).toBe("1");
    expect(store.revision()).toBe(0);
    const second = store.mutate(keyFor("x"), (current) => put("x", `${String(valueOf(current))}2`)());
    release();
    await first;
    expect(valueOf(store.get(keyFor("x")))).toBe("1");
    expect(valueOf(store.peek(keyFor("x")))).toBe("12");
    expect(events).toHaveLength(1);
    release();
    await second;
    expect(valueOf(store.get(keyFor("x")))).toBe("12");
    expect(events.map((e) => e.revision)).toEqual([1, 2]);
  });

  it("decisions about many objects see pending creates, changes and deletions", async () => {
    const { store: slow, release } = gated();
    const store = await open(slow);
    const seen = (): string[] =>
      store.peekAll("core/configmaps/").map((s) => `${s.object.metadata.name}=${String(valueOf(s))}`);
    const base = Promise.all([store.mutate(keyFor("a"), put("a", "1")), store.mutate(keyFor("b"), put("b", "1"))]);
    await settle();
    release();
    await base;
    const later = [
      store.mutate(keyFor("a"), put("a", "2")),
      store.mutate(keyFor("b"), () => ({ type: "delete" })),
      store.mutate(keyFor("c"), put("c", "1")),
    ];
    expect(seen()).toEqual(["a=2", "c=1"]);
    expect(store.peekAll("core/secrets/")).toEqual([]);
    expect(store.list("core/configmaps/").items.map(valueOf)).toEqual(["1", "1"]);
    await settle();
    release();
    await Promise.all(later);
    expect(seen()).toEqual(["a=2", "c=1"]);
  });

  it("refusals and no-ops that rest on a pending write wait until it can be read", async () => {
    const { store: slow, release } = gated();
    const store = await open(slow);
    const settled: string[] = [];
    const note = (text: string) => (): void => void settled.push(text);
    const first = store.mutate(keyFor("x"), put("x", "1")).then(note("put"));
    const none = store.mutate(keyFor("x"), () => ({ type: "none" })).then(note("none"));
    const refused = store
      .mutate(keyFor("x"), () => {
        throw new Error("exists");
      })
      .catch(note("refused"));
    await settle();
    expect(settled).toEqual([]);
    release();
    await Promise.all([first, none, refused]);
    expect(settled.sort()).toEqual(["none", "put", "refused"]);
  });

  it("groups the writes of one event-loop turn into a commit that does not wait for the previous one", async () => {
    const { store: slow, release, waiting } = gated();
    const store = await open(slow);
    const writes = [store.mutate(keyFor("x"), put("x", "1")), store.mutate(keyFor("y"), put("y", "1"))];
    await settle();
    expect(waiting()).toBe(1);
    writes.push(store.mutate(keyFor("z"), put("z", "1")));
    await settle();
    expect(waiting()).toBe(2);
    release();
    release();
    await Promise.all(writes);
  });

  it("rolls back a failed commit and what was built on it, and continues without reusing revisions", async () => {
    const { store: slow, release } = gated();
    const store = await open(slow);
    const base = store.mutate(keyFor("x"), put("x", "base"));
    await settle();
    release();
    await base;
    const first = store.mutate(keyFor("x"), put("x", "lost"));
    await settle();
    const dependent = store.mutate(keyFor("x"), (current) => put("x", `${String(valueOf(current))}+`)());
    await settle();
    release(new Error("disk full"));
    release(new Error("disk full"));
    await expect(first).rejects.toThrow("disk full");
    await expect(dependent).rejects.toThrow("disk full");
    expect(valueOf(store.peek(keyFor("x")))).toBe("base");
    expect(valueOf(store.get(keyFor("x")))).toBe("base");
    const again = store.mutate(keyFor("x"), put("x", "after"));
    await settle();
    release();
    expect((await again).stored?.revision).toBe(4);
    expect(store.revision()).toBe(4);
  });
});

describe("list", () => {
  it("is in byte order of namespace/name and per namespace", async () => {
    const store = await open();
    const names = ["a/x", "a-b/x", "a.b/x", "a/a", "b/x"];
    for (const name of names) await store.mutate(`core/secrets/${name}`, put("x", "1"));
    await store.mutate("core/secretsx/a/x", put("x", "1"));
    await store.mutate("core/namespaces/a", put("a", "1"));
    expect(store.list("core/secrets/").items.map((o) => o.key)).toEqual([
      "core/secrets/a-b/x",
      "core/secrets/a.b/x",
      "core/secrets/a/a",
      "core/secrets/a/x",
      "core/secrets/b/x",
    ]);
    expect(store.list("core/secrets/a/").items.map((o) => o.key)).toEqual(["core/secrets/a/a", "core/secrets/a/x"]);
    expect(store.list("").items).toHaveLength(7);
    expect(store.count("core/secrets/a/")).toBe(2);
    expect(store.count("core/secrets/")).toBe(5);
    expect(store.count("")).toBe(7);
    expect(store.list("none/such/").items).toEqual([]);
  });

  it("is a snapshot that later writes do not change", async () => {
    const store = await open();
    await store.mutate(keyFor("x"), put("x", "1"));
    const { items } = store.list("core/configmaps/");
    await store.mutate(keyFor("x"), put("x", "2"));
    await store.mutate(keyFor("w"), put("w", "2"));
    expect(items.map((o) => valueOf(o))).toEqual(["1"]);
  });
});

describe("subscribe", () => {
  it("starts with what the ring holds and refuses what it no longer does", async () => {
    const store = await open(memoryStore(), 3);
    for (let i = 1; i <= 5; i++) await store.mutate(keyFor(`n${i}`), put(`n${i}`, "1"));
    const seen: number[] = [];
    store.subscribe("core/configmaps/a/", 2, (changes) => seen.push(...changes.map((c) => c.revision)));
    expect(seen).toEqual([3, 4, 5]);
    expect(() => store.subscribe("core/configmaps/", 1, () => {})).toThrow(CompactedError);
  });

  it("delivers once to a subscriber that is added during a delivery", async () => {
    const store = await open();
    const late: number[] = [];
    store.subscribe("", 0, () => {
      if (late.length === 0)
        store.subscribe("core/configmaps/", 0, (changes) => late.push(...changes.map((c) => c.revision)));
    });
    await store.mutate(keyFor("x"), put("x", "1"));
    expect(late).toEqual([1]);
  });

  it("survives a subscriber that throws, and reports the error", async () => {
    const errors: unknown[] = [];
    const store = await openObjectStore(memoryStore(), {
      clock: new VirtualClock(),
      onError: (error) => errors.push(error),
    });
    const seen: number[] = [];
    store.subscribe("", 0, () => {
      throw new Error("bad sink");
    });
    store.subscribe("", 0, (changes) => seen.push(...changes.map((c) => c.revision)));
    await store.mutate(keyFor("x"), put("x", "1"));
    expect(seen).toEqual([1]);
    expect(errors).toHaveLength(1);
  });

  it("delivers nothing up to a revision that is still to come", async () => {
    const store = await open();
    const seen: number[] = [];
    store.subscribe("core/configmaps/", 2, (changes) => seen.push(...changes.map((c) => c.revision)));
    await Promise.all(["a", "b", "c"].map((name) => store.mutate(keyFor(name), put(name, "1"))));
    expect(seen).toEqual([3]);
  });

  it("stops after unsubscribing", async () => {
    const store = await open();
    const seen: number[] = [];
    const stop = store.subscribe("core/configmaps/", 0, (changes) => seen.push(...changes.map((c) => c.revision)));
    await store.mutate(keyFor("x"), put("x", "1"));
    stop();
    await store.mutate(keyFor("x"), put("x", "2"));
    expect(seen).toEqual([1]);
  });
});

describe("waitFor", () => {
  it("resolves when the revision is durable and gives up in time", async () => {
    const clock = new VirtualClock();
    const store = await openObjectStore(memoryStore(), { clock });
    const reached = store.waitFor(1, 3000);
    await store.mutate(keyFor("x"), put("x", "1"));
    expect(await reached).toBe(true);
    const late = store.waitFor(5, 3000);
    await clock.advance(3000);
    expect(await late).toBe(false);
    expect(clock.nextTimer()).toBeUndefined();
  });
});

describe("restart", () => {
  it("refills the ring, so that watchers resume without a gap", async () => {
    const inner = memoryStore();
    const before = await open(inner);
    await before.mutate(keyFor("x"), put("x", "1"));
    await before.mutate(keyFor("x"), put("x", "2"));
    await before.mutate(keyFor("y"), put("y", "1"));
    await before.mutate(keyFor("x"), remove);
    await before.close();
    const after = await open(inner);
    const seen: StoredChange[] = [];
    after.subscribe("core/configmaps/", 1, (changes) => seen.push(...changes));
    expect(seen.map((c) => [c.revision, valueOf(c.current), valueOf(c.previous), valueOf(c.deleted)])).toEqual([
      [2, "2", "1", undefined],
      [3, "1", undefined, undefined],
      [4, undefined, "2", "2"],
    ]);
    expect(seen[2]?.deleted?.object.metadata.resourceVersion).toBe("4");
    expect((await after.mutate(keyFor("z"), put("z", "1"))).stored?.revision).toBe(5);
  });

  it("compacts by itself and keeps the ring's worth of history", async () => {
    const inner = memoryStore();
    const store = await open(inner, 20);
    for (let i = 0; i < 100; i++) await store.mutate(keyFor("x"), put("x", String(i)));
    await settle();
    expect(store.compactedRevision()).toBeGreaterThan(70);
    expect((await inner.readLog(store.compactedRevision())).length).toBeLessThanOrEqual(22);
    expect(await store.listAt("core/", 85)).toHaveLength(1);
    await expect(store.listAt("core/", 10)).rejects.toThrow(CompactedError);
  });
});

type Step = { name: string; value: string | null };
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.record({
    name: fc.constantFrom("a", "b", "c", "a-b", "a.b"),
    value: fc.option(fc.string({ maxLength: 5 }), { nil: null }),
  }),
  { maxLength: 40 },
);

describe("laws", () => {
  it("replaying a watch from any revision on top of the list at it gives the current state", async () => {
    await fc.assert(
      fc.asyncProperty(steps, fc.nat(40), async (list, at) => {
        const store = await open();
        const states: string[] = [JSON.stringify([])];
        for (const step of list) {
          const { changed } = await store.mutate(
            keyFor(step.name),
            step.value === null ? remove : put(step.name, step.value),
          );
          const items = store.list("core/configmaps/").items;
          expect(items.map((o) => o.key)).toEqual(items.map((o) => o.key).sort());
          if (changed) states.push(JSON.stringify(items.map((o) => o.object)));
        }
        const from = Math.min(at, store.revision());
        const then = await store.listAt("core/configmaps/", from);
        expect(JSON.stringify(then.map((o) => o.object))).toBe(states[from]);
        const replay = new Map(then.map((o) => [o.key, o]));
        let last = from;
        store.subscribe("core/configmaps/", from, (changes) => {
          for (const change of changes) {
            expect(change.revision).toBe(++last);
            expect(change.previous).toEqual(replay.get(change.key));
            if (change.current === undefined) replay.delete(change.key);
            else replay.set(change.key, change.current);
          }
        });
        const now = store.list("core/configmaps/").items;
        expect([...replay.values()].sort((a, b) => (a.key < b.key ? -1 : 1))).toEqual(now);
      }),
      { numRuns: 100 },
    );
  });

  it("any interleaving of concurrent compare-and-swap increments loses none", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.boolean(), { maxLength: 60 }), async (yields) => {
        const store = await open();
        const writes: Promise<unknown>[] = [];
        for (const wait of yields) {
          writes.push(store.mutate(keyFor("n"), (current) => put("n", String(Number(valueOf(current) ?? 0) + 1))()));
          if (wait) await Promise.resolve();
        }
        await Promise.all(writes);
        expect(Number(valueOf(store.get(keyFor("n"))) ?? 0)).toBe(yields.length);
      }),
      { numRuns: 50 },
    );
  });
});
