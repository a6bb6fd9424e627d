import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { CompactedError, type Store, type StoreEntry } from "../store.ts";

/** A fresh store, and how to open its data again as after a restart. */
export interface StoreFixture {
  store: Store;
  reopen(): Promise<Store>;
}

interface Op {
  key: string;
  text: string | null;
}

const text = (bytes: Uint8Array | null): string | null => (bytes === null ? null : Buffer.from(bytes).toString());
const put = (revision: number, key: string, value: string): StoreEntry => ({
  revision,
  key,
  bytes: Buffer.from(value),
});
const remove = (revision: number, key: string): StoreEntry => ({ revision, key, bytes: null });

const keys = ["core/pods/a/x", "core/pods/a/y", "core/pods/a-b/x", "core/secrets/a/s", "g.io/things/t"];
const ops: fc.Arbitrary<Op[]> = fc.array(
  fc.record({ key: fc.constantFrom(...keys), text: fc.option(fc.string({ maxLength: 40 }), { nil: null }) }),
  { maxLength: 30 },
);

/** What the state should be after each revision, by the simplest means. */
function model(list: Op[]): Map<string, string>[] {
  const states = [new Map<string, string>()];
  for (const op of list) {
    const next = new Map(states.at(-1));
    if (op.text === null) next.delete(op.key);
    else next.set(op.key, op.text);
    states.push(next);
  }
  return states;
}

function sorted(state: Map<string, string> | undefined, prefix: string): [string, string][] {
  return [...(state ?? [])].filter(([key]) => key.startsWith(prefix)).sort(([a], [b]) => (a < b ? -1 : 1));
}

async function commitAll(store: Store, list: Op[], batch: number): Promise<void> {
  const inFlight: Promise<void>[] = [];
  for (let i = 0; i < list.length; i += batch) {
    const entries = list.slice(i, i + batch).map((op, j) => ({
      revision: i + j + 1,
      key: op.key,
      bytes: op.text === null ? null : Buffer.from(op.text),
    }));
    inFlight.push(store.commit(entries));
  }
  await Promise.all(inFlight);
}

/** What every Store must do; run against each implementation. */
export function storeSuite(name: string, open: () => Promise<StoreFixture>, runs = 30): void {
  describe(`${name} as a store`, () => {
    it("starts empty at revision 0", async () => {
      const { store } = await open();
      expect(await store.load()).toEqual({ revision: 0, compactedRevision: 0, objects: [] });
      await store.close();
    });

    it("keeps what was committed across a restart, with revisions and in key order", async () => {
      const fixture = await open();
      await fixture.store.commit([put(1, "g/b/x", "1"), put(2, "g/a/x", "2"), put(3, "g/c/x", "3")]);
      await fixture.store.commit([put(4, "g/b/x", "4"), remove(5, "g/c/x")]);
      await fixture.store.close();
      const store = await fixture.reopen();
      const loaded = await store.load();
      expect(loaded.revision).toBe(5);
      expect(loaded.objects.map((o) => [o.key, o.revision, text(o.bytes)])).toEqual([
        ["g/a/x", 2, "2"],
        ["g/b/x", 4, "4"],
      ]);
      await store.close();
    });

    it("gives the log with what each change replaced", async () => {
      const { store } = await open();
      await store.commit([put(1, "g/a/x", "1")]);
      await store.commit([put(2, "g/a/x", "2"), remove(3, "g/a/x")]);
      const log = await store.readLog(1);
      expect(
        log.map((e) => [e.revision, text(e.bytes), e.previous?.revision, text(e.previous?.bytes ?? null)]),
      ).toEqual([
        [2, "2", 1, "1"],
        [3, null, 2, "2"],
      ]);
      await store.close();
    });

    it("forgets history on compaction but never current objects", async () => {
      const fixture = await open();
      await fixture.store.commit([put(1, "g/a/old", "1"), put(2, "g/a/x", "2")]);
      await fixture.store.commit([put(3, "g/a/x", "3")]);
      await fixture.store.commit([put(4, "g/a/old", "4")]);
      await fixture.store.compact(2);
      await expect(fixture.store.readAt(1, "")).rejects.toThrow(CompactedError);
      await expect(fixture.store.readLog(1)).rejects.toThrow(CompactedError);
      const at3 = await fixture.store.readAt(3, "g/a/");
      expect(at3.map((o) => [o.key, o.revision, text(o.bytes)])).toEqual([
        ["g/a/old", 1, "1"],
        ["g/a/x", 3, "3"],
      ]);
      await fixture.store.close();
      const store = await fixture.reopen();
      const loaded = await store.load();
      expect(loaded.compactedRevision).toBe(2);
      expect(loaded.objects).toHaveLength(2);
      expect(await store.readLog(2)).toHaveLength(2);
      await store.close();
    });

    it("deleting what is not there is recorded without a previous state", async () => {
      const { store } = await open();
      await store.commit([remove(1, "g/a/x")]);
      expect(await store.readLog(0)).toEqual([remove(1, "g/a/x")]);
      await store.close();
    });

    it("refuses writes after close", async () => {
      const { store } = await open();
      await store.close();
      await expect(store.commit([put(1, "g/a/x", "1")])).rejects.toThrow(/closed/);
    });

    it("shows at every revision what had been written until then, for any sequence of commits", async () => {
      await fc.assert(
        fc.asyncProperty(ops, fc.integer({ min: 1, max: 5 }), async (list, batch) => {
          const fixture = await open();
          await commitAll(fixture.store, list, batch);
          await fixture.store.close();
          const store = await fixture.reopen();
          const states = model(list);
          const loaded = await store.load();
          expect(loaded.revision).toBe(list.length);
          expect(loaded.objects.map((o) => [o.key, text(o.bytes)])).toEqual(sorted(states.at(-1), ""));
          for (const prefix of ["", "core/pods/", "core/pods/a/", "core/secrets/"]) {
            for (let revision = 0; revision <= list.length; revision++) {
              const then = await store.readAt(revision, prefix);
              expect(then.map((o) => [o.key, text(o.bytes)])).toEqual(sorted(states[revision], prefix));
            }
          }
          const log = await store.readLog(0);
          expect(log.map((e) => [e.revision, e.key, text(e.bytes)])).toEqual(
            list.map((op, i) => [i + 1, op.key, op.text]),
          );
          await store.close();
        }),
        { numRuns: runs },
      );
    });
  });
}
