import type { OwnerReference, Unstructured } from "@capstan/apimachinery";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { widgetCrd } from "../testing/server.ts";
import { startGarbageCollector } from "./garbage-collector.ts";
import { CONFIG_MAPS, configMap, type Harness, harness, NAMESPACES, ownedBy } from "./testing/harness.ts";

const start = (): Promise<Harness> => harness(startGarbageCollector);

async function make(
  h: Harness,
  name: string,
  owners: OwnerReference[] = [],
  finalizers: string[] = [],
): Promise<Unstructured> {
  const metadata = {
    ...(owners.length > 0 ? { ownerReferences: owners } : {}),
    ...(finalizers.length > 0 ? { finalizers } : {}),
  };
  return h.api.create(CONFIG_MAPS, configMap(name, metadata), "test");
}

const get = (h: Harness, name: string): Unstructured | undefined => h.api.get(CONFIG_MAPS, "default", name);
const names = (h: Harness): (string | undefined)[] =>
  h.api.list(CONFIG_MAPS, "default").map((object) => object.metadata.name);
const absent = (name: string, uid = "0000"): OwnerReference => ({ apiVersion: "v1", kind: "ConfigMap", name, uid });

describe("background", () => {
  it("deletes dependents, and theirs, after their owner is deleted", async () => {
    const h = await start();
    const owner = await make(h, "owner");
    const middle = await make(h, "middle", [ownedBy(owner)]);
    await make(h, "leaf", [ownedBy(middle)]);
    await make(h, "other");
    await h.api.delete(CONFIG_MAPS, "default", "owner");
    await h.settled();
    expect(names(h)).toEqual(["other"]);
    expect(h.errors).toEqual([]);
    expect(h.controller.idle()).toBe(true);
  });

  it("keeps an object with a solid owner and drops the dangling reference", async () => {
    const h = await start();
    const [a, b] = [await make(h, "a"), await make(h, "b")];
    await make(h, "shared", [ownedBy(a), ownedBy(b)]);
    await h.api.delete(CONFIG_MAPS, "default", "a");
    await h.settled();
    expect(get(h, "shared")?.metadata.ownerReferences).toEqual([ownedBy(b)]);
  });

  it("deletes an object created with an owner that does not exist or has another uid", async () => {
    const h = await start();
    await make(h, "owner");
    await make(h, "orphaned", [absent("missing")]);
    await make(h, "mistaken", [absent("owner", "other-uid")]);
    await h.settled();
    expect(names(h)).toEqual(["owner"]);
  });

  it("deletes what lost its owner while no collector ran", async () => {
    const h = await harness(startGarbageCollector, {
      prepare: async (api) => {
        await api.create(CONFIG_MAPS, configMap("left", { ownerReferences: [absent("gone")] }), "test");
      },
    });
    expect(names(h)).toEqual([]);
  });

  it("never deletes for an owner of an unknown kind, until the kind is known", async () => {
    const h = await start();
    const reference = { apiVersion: "example.test/v1", kind: "Widget", name: "w", uid: "1" };
    await make(h, "kept", [reference]);
    await h.settled();
    expect(names(h)).toEqual(["kept"]);
    expect(h.controller.idle()).toBe(true);
    await h.server.registerCrds([widgetCrd() as Unstructured]);
    await h.settled();
    expect(names(h)).toEqual([]);
  });

  it("looks for a namespaced owner only in the dependent's namespace", async () => {
    const h = await start();
    const elsewhere = await h.api.create(CONFIG_MAPS, configMap("owner", { namespace: "kube-system" }), "test");
    await make(h, "dependent", [ownedBy(elsewhere)]);
    await h.settled();
    expect(names(h)).toEqual([]);
  });

  it("takes cluster-scoped owners, and leaves a cluster-scoped object with a namespaced owner alone but warns", async () => {
    const h = await start();
    const namespace = h.api.get(NAMESPACES, "", "default");
    if (namespace === undefined) throw new Error("no default namespace");
    await make(h, "of-namespace", [ownedBy(namespace)]);
    const owner = await make(h, "owner");
    const metadata = { name: "wrong", ownerReferences: [ownedBy(owner)] };
    await h.api.create(NAMESPACES, { apiVersion: "v1", kind: "Namespace", metadata }, "test");
    await h.api.delete(CONFIG_MAPS, "default", "owner");
    await h.settled();
    expect(names(h)).toEqual(["of-namespace"]);
    expect(h.api.get(NAMESPACES, "", "wrong")).toBeDefined();
    const events = h.api.list({ group: "", plural: "events" });
    expect(events.map((event) => event["reason"])).toEqual(["OwnerRefInvalidNamespace"]);
  });

  it("leaves an object that is being deleted for its own reasons alone", async () => {
    const h = await start();
    const owner = await make(h, "owner");
    await make(h, "held", [ownedBy(owner)], ["example.test/hold"]);
    await h.api.delete(CONFIG_MAPS, "default", "owner");
    await h.settled();
    const held = get(h, "held");
    expect(held?.metadata.deletionTimestamp).toBeDefined();
    const before = h.writes();
    await h.api.update(CONFIG_MAPS, "default", "held", "test", (o) => {
      o.metadata.labels = { a: "b" };
    });
    await h.settled();
    expect(h.writes()).toBe(before + 1);
  });
});

describe("foreground", () => {
  it("keeps the owner until blocking dependents are deleted", async () => {
    const h = await start();
    const owner = await make(h, "owner");
    await make(h, "blocks", [ownedBy(owner, { blockOwnerDeletion: true })], ["example.test/hold"]);
    await make(h, "does-not", [ownedBy(owner)]);
    await h.api.delete(CONFIG_MAPS, "default", "owner", { propagationPolicy: "Foreground" });
    await h.settled();
    expect(names(h)).toEqual(["blocks", "owner"]);
    expect(get(h, "blocks")?.metadata.deletionTimestamp).toBeDefined();
    await h.api.update(CONFIG_MAPS, "default", "blocks", "test", (o) => {
      o.metadata.finalizers = [];
    });
    await h.settled();
    expect(names(h)).toEqual([]);
  });

  it("does not wait for dependents that do not block", async () => {
    const h = await start();
    const owner = await make(h, "owner");
    await make(h, "slow", [ownedBy(owner)], ["example.test/hold"]);
    await h.api.delete(CONFIG_MAPS, "default", "owner", { propagationPolicy: "Foreground" });
    await h.settled();
    expect(names(h)).toEqual(["slow"]);
  });

  it("deletes a chain from its end", async () => {
    const h = await start();
    const owner = await make(h, "a");
    const middle = await make(h, "b", [ownedBy(owner, { blockOwnerDeletion: true })]);
    await make(h, "c", [ownedBy(middle, { blockOwnerDeletion: true })]);
    const gone: string[] = [];
    h.api.watch(CONFIG_MAPS, ({ name, object }) => {
      if (object === undefined) gone.push(name);
    });
    await h.api.delete(CONFIG_MAPS, "default", "a", { propagationPolicy: "Foreground" });
    await h.settled();
    expect(gone).toEqual(["c", "b", "a"]);
  });

  it("breaks a cycle", async () => {
    const h = await start();
    const a = await make(h, "a");
    const b = await make(h, "b", [ownedBy(a, { blockOwnerDeletion: true })]);
    await h.api.update(CONFIG_MAPS, "default", "a", "test", (o) => {
      o.metadata.ownerReferences = [ownedBy(b, { blockOwnerDeletion: true })];
    });
    await h.settled();
    await h.api.delete(CONFIG_MAPS, "default", "a", { propagationPolicy: "Foreground" });
    await h.clock.advance(1000);
    expect(names(h)).toEqual([]);
  });

  it("drops its reference from a dependent that has another, solid owner", async () => {
    const h = await start();
    const [a, b] = [await make(h, "a"), await make(h, "b")];
    await make(h, "shared", [ownedBy(a, { blockOwnerDeletion: true }), ownedBy(b)]);
    await h.api.delete(CONFIG_MAPS, "default", "a", { propagationPolicy: "Foreground" });
    await h.settled();
    expect(names(h)).toEqual(["b", "shared"]);
    expect(get(h, "shared")?.metadata.ownerReferences).toEqual([ownedBy(b)]);
  });
});

describe("orphan", () => {
  it("releases the owner once no dependent refers to it", async () => {
    const h = await start();
    const owner = await make(h, "owner");
    await make(h, "x", [ownedBy(owner)]);
    await make(h, "y", [ownedBy(owner)]);
    await h.api.delete(CONFIG_MAPS, "default", "owner", { propagationPolicy: "Orphan" });
    await h.settled();
    expect(names(h)).toEqual(["x", "y"]);
    expect(get(h, "x")?.metadata.ownerReferences).toBeUndefined();
  });

  it("orphans many dependents in batches", async () => {
    let running = 0;
    let most = 0;
    const h = await harness((api, deps) => {
      const update = api.update.bind(api);
      api.update = async (...args) => {
        most = Math.max(most, ++running);
        return await update(...args).finally(() => running--);
      };
      return startGarbageCollector(api, deps);
    });
    const owner = await make(h, "owner");
    await Promise.all(Array.from({ length: 250 }, (_, i) => make(h, `d${i}`, [ownedBy(owner)])));
    await h.api.delete(CONFIG_MAPS, "default", "owner", { propagationPolicy: "Orphan" });
    await h.settled();
    const left = h.api.list(CONFIG_MAPS, "default");
    expect(left).toHaveLength(250);
    expect(left.filter((object) => object.metadata.ownerReferences !== undefined)).toEqual([]);
    expect(most).toBe(50);
  });
});

describe("the collector", () => {
  it("is idle when there is nothing to do", async () => {
    const h = await start();
    const owner = await make(h, "owner");
    await make(h, "dependent", [ownedBy(owner, { blockOwnerDeletion: true })]);
    const before = h.writes();
    await h.clock.advance(3_600_000);
    expect(h.writes()).toBe(before);
    expect(h.clock.nextTimer()).toBeUndefined();
  });

  it("does nothing once stopped", async () => {
    const h = await start();
    const owner = await make(h, "owner");
    await make(h, "dependent", [ownedBy(owner)]);
    h.controller.stop();
    await h.api.delete(CONFIG_MAPS, "default", "owner");
    await h.settled();
    expect(names(h)).toEqual(["dependent"]);
  });

  it("leaves exactly the objects that are reachable from roots, for any forest and any deletions", async () => {
    const policy = fc.constantFrom("Background" as const, "Foreground" as const);
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(fc.nat(9), { maxLength: 2 }), { minLength: 1, maxLength: 10 }),
        fc.array(fc.tuple(fc.nat(9), policy), { maxLength: 3 }),
        async (owners, deletions) => {
          const h = await start();
          const made: Unstructured[] = [];
          const parents = owners.map((list, i) => [...new Set(list.filter((p) => p < i))]);
          for (const [i, list] of parents.entries()) {
            const references = list.flatMap((p) => {
              const owner = made[p];
              return owner === undefined ? [] : [ownedBy(owner, { blockOwnerDeletion: true })];
            });
            made.push(await make(h, `n${i}`, references));
          }
          const deleted = new Set<number>();
          for (const [i, propagationPolicy] of deletions) {
            if (i >= made.length) continue;
            await h.api.delete(CONFIG_MAPS, "default", `n${i}`, { propagationPolicy }).catch(() => {});
            deleted.add(i);
            await h.clock.advance(10_000);
          }
          const alive = new Set<number>();
          for (const [i, list] of parents.entries()) {
            const reachable = list.length === 0 || list.some((p) => alive.has(p));
            if (reachable && !deleted.has(i)) alive.add(i);
          }
          expect(new Set(names(h))).toEqual(new Set([...alive].map((i) => `n${i}`)));
          expect(h.controller.idle()).toBe(true);
          await h.server.close();
        },
      ),
      { numRuns: 25 },
    );
  });
});
