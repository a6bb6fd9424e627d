import { type KubeObject, randomInt, type Status, seededRandom, type WatchEvent } from "@capstan/apimachinery";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { InformerState } from "./informer-state.ts";

interface Thing extends KubeObject {
  value?: number;
}

function thing(name: string, uid: string, revision: number, extra: Partial<KubeObject["metadata"]> = {}): Thing {
  return {
    apiVersion: "v1",
    kind: "Thing",
    metadata: { name, namespace: "ns", uid, resourceVersion: String(revision), ...extra },
  };
}

/** Follows the events and complains about any that does not fit what it saw before. */
class Listener {
  readonly seen = new Map<string, Thing>();
  readonly log: string[] = [];
  readonly state = new InformerState<Thing>({
    add: (object) => {
      expect(this.seen.has(nameOf(object))).toBe(false);
      this.seen.set(nameOf(object), object);
      this.log.push(`add ${nameOf(object)}@${object.metadata.resourceVersion}`);
    },
    update: (object, old) => {
      expect(this.seen.get(nameOf(object))).toBe(old);
      expect(Number(object.metadata.resourceVersion)).toBeGreaterThan(Number(old.metadata.resourceVersion));
      this.seen.set(nameOf(object), object);
      this.log.push(`update ${nameOf(object)}@${object.metadata.resourceVersion}`);
    },
    delete: (object) => {
      expect(this.seen.has(nameOf(object))).toBe(true);
      this.seen.delete(nameOf(object));
      this.log.push(`delete ${nameOf(object)}`);
    },
  });
}

function nameOf(object: Thing): string {
  return object.metadata.name ?? "";
}

const gone = (uid: string): Status => ({
  kind: "Status",
  apiVersion: "v1",
  metadata: {},
  status: "Success",
  details: { uid },
});

describe("InformerState", () => {
  test("own writes are visible at once, and the watch's own report of them changes nothing", () => {
    const { state, log } = new Listener();
    state.replace([], "10", true);
    state.written(thing("a", "u1", 11));
    expect(state.store.get("ns/a")?.metadata.resourceVersion).toBe("11");
    state.event("ADDED", thing("a", "u1", 11));
    expect(log).toEqual(["add a@11"]);
  });

  test("an event older than an own write does not take the object back", () => {
    const { state, log } = new Listener();
    state.replace([thing("a", "u1", 10)], "10", true);
    state.written(thing("a", "u1", 13));
    state.event("MODIFIED", thing("a", "u1", 12));
    state.event("MODIFIED", thing("a", "u1", 14));
    expect(log).toEqual(["add a@10", "update a@13", "update a@14"]);
  });

  test("the late response to a create does not bring back an object deleted since", () => {
    const { state } = new Listener();
    state.replace([], "10", true);
    state.event("ADDED", thing("a", "u1", 11));
    state.event("DELETED", thing("a", "u1", 12));
    state.written(thing("a", "u1", 11));
    expect(state.store.size).toBe(0);
  });

  test("an own delete is visible at once, and late events of the object do not bring it back", () => {
    const { state, log } = new Listener();
    state.replace([thing("a", "u1", 10)], "10", true);
    state.deleted({ namespace: "ns", name: "a" }, gone("u1"));
    state.event("MODIFIED", thing("a", "u1", 11));
    expect(state.store.size).toBe(0);
    state.event("DELETED", thing("a", "u1", 12));
    state.event("ADDED", thing("a", "u2", 13));
    expect(log).toEqual(["add a@10", "delete a", "add a@13"]);
  });

  test("a delete held up by finalizers shows the deletion mark", () => {
    const { state } = new Listener();
    state.replace([thing("a", "u1", 10)], "10", true);
    const marked = thing("a", "u1", 11, { deletionTimestamp: "2026-01-01T00:00:00Z", finalizers: ["x"] });
    state.deleted({ namespace: "ns", name: "a" }, marked);
    expect(state.store.get("ns/a")).toBe(marked);
  });

  test("a list removes deleted objects but keeps later writes", () => {
    const { state, log } = new Listener();
    state.replace([thing("old", "u1", 5), thing("same", "u2", 6)], "10", true);
    state.written(thing("new", "u3", 21));
    state.replace([thing("same", "u2", 6)], "20", false);
    expect(log).toEqual(["add old@5", "add same@6", "add new@21", "delete old"]);
  });

  test("follows an older list when the server lost its data", () => {
    const { state } = new Listener();
    state.replace([thing("kept", "u1", 90), thing("lost", "u2", 95)], "100", true);
    const listener = new Map<string, string>();
    state.store.list().forEach((object) => listener.set(nameOf(object), "seen"));
    expect(() => state.replace([thing("other", "u9", 3)], "4", false)).not.toThrow();
    expect(state.store.list().map(nameOf)).toEqual(["other"]);
    expect(state.revision).toBe("4");
  });

  test("reports deletion and creation when an object was recreated between two lists", () => {
    const { state, log } = new Listener();
    state.replace([thing("a", "u1", 10)], "10", true);
    state.replace([thing("a", "u2", 20)], "20", false);
    expect(log).toEqual(["add a@10", "delete a", "add a@20"]);
  });

  test("law: whatever the order of events, lists and responses, the view converges to the server and reads its own writes", () => {
    fc.assert(
      fc.property(fc.integer(), (seed) => {
        const random = seededRandom(seed);
        const listener = new Listener();
        const { state } = listener;
        const server = new Map<string, Thing>();
        const history: { type: WatchEvent["type"]; object: Thing }[] = [];
        const answers: (() => void)[] = [];
        let revision = 1;
        let delivered = 0;
        state.replace([], "1", true);

        const change = (own: boolean): void => {
          const name = `o${randomInt(random, 4)}`;
          const old = server.get(name);
          revision++;
          if (old !== undefined && randomInt(random, 3) === 0) {
            server.delete(name);
            history.push({ type: "DELETED", object: thing(name, old.metadata.uid ?? "", revision) });
            if (own) answers.push(() => state.deleted({ namespace: "ns", name }, gone(old.metadata.uid ?? "")));
            return;
          }
          const next = thing(name, old?.metadata.uid ?? `u${revision}`, revision);
          server.set(name, next);
          history.push({ type: old === undefined ? "ADDED" : "MODIFIED", object: next });
          if (!own) return;
          answers.push(() => {
            state.written(next);
            const seen = state.store.get(`ns/${name}`);
            const later = server.get(name);
            // Either this write or something newer, unless it is deleted by now.
            if (later !== undefined && later.metadata.uid === next.metadata.uid && seen !== undefined) {
              expect(Number(seen.metadata.resourceVersion)).toBeGreaterThanOrEqual(
                Number(next.metadata.resourceVersion),
              );
            }
          });
        };
        const deliver = (): void => {
          const event = history[delivered];
          if (event === undefined) return;
          delivered++;
          state.event(event.type, event.object);
        };
        for (let i = 0; i < 150; i++) {
          const action = randomInt(random, 10);
          if (action < 3) change(true);
          else if (action < 4) change(false);
          else if (action < 6) answers.splice(randomInt(random, Math.max(1, answers.length)), 1)[0]?.();
          else if (action < 9) deliver();
          else {
            state.replace([...server.values()], String(revision), false);
            delivered = history.length;
          }
        }
        for (const answer of answers) answer();
        while (delivered < history.length) deliver();
        const byName = (a: Thing, b: Thing): number => nameOf(a).localeCompare(nameOf(b));
        expect(state.store.list().sort(byName)).toEqual([...server.values()].sort(byName));
        expect([...listener.seen.values()].sort(byName)).toEqual([...server.values()].sort(byName));
      }),
      { numRuns: 300 },
    );
  });
});
