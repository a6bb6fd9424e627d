import type { Unstructured } from "@capstan/apimachinery";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { builtinTypes } from "../builtin/index.ts";
import type { ResourceType } from "../types.ts";
import { ListRuns } from "./list-runs.ts";
import type { View } from "./views.ts";

const KEPT = 64 * 1024;
const RUN = 4 * 1024;
/** About 26 of them make a run. */
const ITEM = 160;
const custom = { builtin: false } as ResourceType;
const typed = configMaps();

function configMaps(): ResourceType {
  const type = builtinTypes().find(({ plural, group }) => plural === "configmaps" && group === "");
  if (type === undefined) throw new Error("no ConfigMaps");
  return type;
}

let made = 0;
/** A state of an object: no two have the same bytes. */
function view(size = ITEM): View {
  const object = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: `m${made++}` }, data: "" };
  object.data = "x".repeat(Math.max(0, size - JSON.stringify(object).length));
  return { object: object as Unstructured, bytes: Buffer.from(JSON.stringify(object)) };
}

const views = (count: number, size?: number): View[] => Array.from({ length: count }, () => view(size));
const plain = (items: readonly View[]): string => items.map(({ bytes }) => bytes.toString()).join(",");
const text = async (runs: ListRuns, items: readonly View[], type = custom, chosen = false): Promise<string> =>
  Buffer.concat(await runs.json(type, items, chosen)).toString();

describe("list runs", () => {
  it("are encoded once for unchanged objects", async () => {
    const runs = new ListRuns(KEPT, RUN);
    const items = views(100);
    const first = await runs.json(custom, items, false);
    const second = await runs.json(custom, [...items], false);
    expect(Buffer.concat(first).toString()).toBe(plain(items));
    expect(first.length).toBeGreaterThan(3);
    expect(second).toHaveLength(first.length);
    expect(second.every(({ buffer }, i) => buffer === first[i]?.buffer)).toBe(true);
  });

  it.each([
    ["changed", (items: View[]) => items.splice(40, 1, view())],
    ["added", (items: View[]) => items.splice(40, 0, view())],
    ["removed", (items: View[]) => items.splice(40, 1)],
    ["the first of a run", (items: View[]) => items.splice(26, 1, view())],
  ])("are encoded again only where an object was %s", async (_what, change) => {
    const runs = new ListRuns(KEPT, RUN);
    const items = views(200);
    const before = new Set((await runs.json(custom, items, false)).map(({ buffer }) => buffer));
    change(items);
    const after = await runs.json(custom, items, false);
    expect(Buffer.concat(after).toString()).toBe(plain(items));
    expect(after.filter(({ buffer }) => !before.has(buffer)).length).toBe(1);
  });

  it("show the current objects, whatever changes and whichever part is requested", async () => {
    const step = fc.record({
      do: fc.constantFrom("add", "change", "remove", "list", "list", "choose", "other type"),
      at: fc.nat(),
      count: fc.integer({ min: 1, max: 60 }),
      size: fc.constantFrom(ITEM / 4, ITEM, RUN / 2, 2 * RUN),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 30 }), async (steps) => {
        const runs = new ListRuns(KEPT / 4, RUN);
        const items = views(120);
        for (const { do: what, at, count, size } of steps) {
          const from = at % (items.length + 1);
          if (what === "add") items.splice(from, 0, ...views(Math.ceil(count / 10), size));
          else if (what === "change" && from < items.length) items[from] = view(size);
          else if (what === "remove") items.splice(from, count);
          else if (what === "choose") {
            const even = items.filter((_, i) => i % 2 === 0);
            expect(await text(runs, even, custom, true)).toBe(plain(even));
          } else if (what === "other type")
            expect(await text(runs, items, typed)).toBe(
              plain(items).replaceAll('"apiVersion":"v1","kind":"ConfigMap",', ""),
            );
          const part = items.slice(from, from + count);
          expect(await text(runs, part)).toBe(plain(part));
          expect(await text(runs, items)).toBe(plain(items));
          expect(runs.keptBytes()).toBeLessThanOrEqual(KEPT / 4);
        }
      }),
      { numRuns: 200 },
    );
  });

  it("merge again when most objects are deleted", async () => {
    const runs = new ListRuns(KEPT, RUN);
    const items = views(2000);
    await runs.json(custom, items, false);
    // Each the first of a run.
    const few = items.filter((_, i) => i % 26 === 0);
    const chunks = await runs.json(custom, few, false);
    expect(chunks.length).toBeGreaterThan(2);
    expect(chunks.slice(0, -1).every(({ length }) => length >= RUN / 4)).toBe(true);
  });

  it("are evicted when there are too many, the least recently used first", async () => {
    const runs = new ListRuns(KEPT / 2, RUN);
    const [used, unused] = [views(80), views(80)];
    const usedBytes = await runs.json(custom, used, false);
    const unusedBytes = await runs.json(custom, unused, false);
    expect(runs.keptBytes()).toBeGreaterThan(KEPT / 3);
    await runs.json(custom, used, false);
    await runs.json(custom, views(80), false);
    expect(runs.keptBytes()).toBeLessThanOrEqual(KEPT / 2);
    expect((await runs.json(custom, used, false))[0]?.buffer).toBe(usedBytes[0]?.buffer);
    expect((await runs.json(custom, unused, false))[0]?.buffer).not.toBe(unusedBytes[0]?.buffer);
  });

  it("are not kept for selections, short lists and single long objects", async () => {
    const runs = new ListRuns(KEPT, RUN);
    await runs.json(custom, views(100), true);
    await runs.json(custom, views(5), false);
    await runs.json(custom, views(3, 2 * RUN), false);
    expect(runs.keptBytes()).toBe(0);
  });

  it("yield to other requests", async () => {
    let turns = 0;
    let listed = false;
    const count = (): void => {
      turns++;
      if (!listed) setImmediate(count);
    };
    setImmediate(count);
    const chunks = await new ListRuns(KEPT, RUN).json(custom, views(200), false);
    listed = true;
    expect(turns).toBeGreaterThanOrEqual(chunks.length - 1);
  });
});
