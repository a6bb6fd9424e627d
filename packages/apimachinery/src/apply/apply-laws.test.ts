import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { deepCopy, deepEqual, deepFreeze } from "../json.ts";
import type { ManagedFieldsEntry, Unstructured } from "../object.ts";
import type { JSONSchemaProps } from "../schema/types.ts";
import { applyPatch } from "./apply-patch.ts";
import { compileApplySchema } from "./apply-type.ts";
import { trackUpdate } from "./track-update.ts";

const SCHEMA: JSONSchemaProps = {
  type: "object",
  properties: {
    spec: {
      type: "object",
      properties: {
        a: { type: "integer" },
        struct: { type: "object", properties: { x: { type: "integer" }, y: { type: "integer" } } },
        map: { type: "object", additionalProperties: { type: "integer" } },
        set: { type: "array", "x-kubernetes-list-type": "set", items: { type: "string" } },
        list: { type: "array", items: { type: "integer" } },
        items: {
          type: "array",
          "x-kubernetes-list-type": "map",
          "x-kubernetes-list-map-keys": ["name"],
          items: {
            type: "object",
            properties: { name: { type: "string" }, v: { type: "integer" }, w: { type: "integer" } },
          },
        },
        free: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
      },
    },
  },
};
const schema = compileApplySchema(SCHEMA);
const base = { subresource: "", apiVersion: "t/v1", nowTime: "2026-01-01T00:00:00Z", schema };

const n = fc.integer({ min: 0, max: 2 });
const name = fc.constantFrom("p", "q", "r");
const some = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined, freq: 2 });
const spec = fc
  .record({
    a: some(n),
    struct: some(fc.record({ x: some(n), y: some(n) })),
    map: some(fc.dictionary(name, n, { maxKeys: 3 })),
    set: some(fc.uniqueArray(name)),
    list: some(fc.array(n, { maxLength: 3 })),
    items: some(fc.uniqueArray(fc.record({ name, v: some(n), w: some(n) }), { selector: (i) => i.name })),
    free: some(fc.dictionary(name, fc.oneof(n, fc.array(n), fc.dictionary(name, n)), { maxKeys: 2 })),
  })
  .map((s) => JSON.parse(JSON.stringify(s)) as Record<string, unknown>);

const objectOf = (s: unknown): Unstructured => ({ apiVersion: "t/v1", kind: "W", metadata: { name: "w" }, spec: s });
const apply = (live: Unstructured | undefined, manager: string, s: unknown) =>
  applyPatch({
    ...base,
    live: live === undefined ? undefined : deepFreeze(live),
    manager,
    patch: deepFreeze(objectOf(s)),
    force: true,
  });
const create = (s: unknown): Unstructured => {
  const next = objectOf(s);
  const managedFields = trackUpdate({ ...base, manager: "creator", live: undefined, next });
  return { ...next, metadata: { ...next.metadata, uid: "u", managedFields } };
};
const specOf = (o: Unstructured): unknown => o["spec"];

describe("server-side apply", () => {
  test("is idempotent", () => {
    fc.assert(
      fc.property(spec, spec, (live, patch) => {
        const once = apply(create(live), "one", patch);
        const twice = apply(once.object, "one", patch);
        expect(twice.changed).toBe(false);
        expect(twice.object).toEqual(once.object);
      }),
    );
  });

  test("gives the same whether or not it may share what did not change", () => {
    fc.assert(
      fc.property(spec, spec, spec, (live, first, second) => {
        const stored = deepFreeze(apply(create(live), "one", first).object);
        const input = { ...base, live: stored, manager: "one", patch: deepFreeze(objectOf(second)), force: true };
        const [own, shared] = [applyPatch(input), applyPatch({ ...input, share: "all" })];
        expect(shared).toEqual(own);
        expect(applyPatch({ ...input, share: "status" })).toEqual(own);
        expect(Object.isFrozen(shared.object) || Object.isFrozen(shared.object.metadata)).toBe(false);
        if (deepEqual(live, second) && deepEqual(live, first)) expect(specOf(shared.object)).toBe(specOf(stored));
      }),
    );
  });

  test("applied to nothing gives what was applied", () => {
    fc.assert(
      fc.property(spec, (patch) => {
        expect(specOf(apply(undefined, "one", patch).object)).toEqual(patch);
      }),
    );
  });

  test("what was applied is in the result", () => {
    fc.assert(
      fc.property(spec, spec, (live, patch) => {
        const { object } = apply(create(live), "one", patch);
        expect(contains(specOf(object), patch)).toBe(true);
      }),
    );
  });

  test("a sole applier's object is what it applied last, but for containers left empty", () => {
    fc.assert(
      fc.property(spec, spec, (first, second) => {
        const one = apply(undefined, "one", first).object;
        const two = apply(one, "one", second).object;
        expect(tidy(specOf(two))).toEqual(tidy(second));
      }),
    );
  });

  test("an empty apply leaves the fields of other managers", () => {
    fc.assert(
      fc.property(spec, spec, (live, patch) => {
        const created = create(live);
        const merged = apply(created, "one", patch).object;
        const left = apply(merged, "one", {}).object;
        // Fields the creator still owns stay as they are in the merged object.
        const creator = left.metadata.managedFields?.find((m) => m.manager === "creator");
        const before = merged.metadata.managedFields?.find((m) => m.manager === "creator");
        expect(creator?.fieldsV1).toEqual(before?.fieldsV1);
      }),
    );
  });

  test("nothing given is changed, and everything owned exists", () => {
    fc.assert(
      fc.property(spec, spec, (live, patch) => {
        const created = deepFreeze(create(live));
        const before = deepCopy(created);
        const { object } = apply(created, "one", patch);
        expect(deepEqual(created, before)).toBe(true);
        expect(Object.isFrozen(object)).toBe(false);
      }),
    );
  });
});

describe("updates", () => {
  const update = (live: Unstructured, s: unknown, manager: string): ManagedFieldsEntry[] =>
    trackUpdate({ ...base, manager, live: deepFreeze(live), next: { ...live, spec: s } });

  test("without a change keep every entry", () => {
    fc.assert(
      fc.property(spec, (s) => {
        const live = create(s);
        expect(update(live, deepCopy(s), "other")).toEqual(live.metadata.managedFields);
      }),
    );
  });

  test("own all fields that a create would own", () => {
    fc.assert(
      fc.property(spec, spec, (first, second) => {
        const live = create(first);
        const managedFields = update(live, second, "creator");
        const fresh = create(second).metadata.managedFields;
        // The same manager: its one entry covers at least what it would own had it created the object so.
        expect(managedFields).toHaveLength(1);
        expect(contains(managedFields[0]?.fieldsV1, fresh?.[0]?.fieldsV1)).toBe(true);
      }),
    );
  });

  test("a create in a Go type does not own containers that are always there", () => {
    const typed = compileApplySchema(SCHEMA, { spec: { struct: {} } });
    const next = objectOf({ a: 1, struct: { x: 1 } });
    const [entry] = trackUpdate({ ...base, schema: typed, manager: "m", live: undefined, next });
    expect(entry?.fieldsV1).toEqual({ "f:spec": { "f:a": {}, "f:struct": { "f:x": {} } } });
  });

  test("a part that became atomic is owned as a whole", () => {
    const live = create({ struct: { x: 1, y: 2 } });
    const atomic = compileApplySchema({
      type: "object",
      properties: {
        spec: { type: "object", properties: { struct: { type: "object", "x-kubernetes-map-type": "atomic" } } },
      },
    });
    const [entry] = trackUpdate({ ...base, schema: atomic, manager: "m", live, next: live });
    expect(entry?.fieldsV1).toEqual({ "f:spec": { ".": {}, "f:struct": {} } });
  });

  test("deep nesting is refused with a clear error", () => {
    let deep: unknown = 1;
    for (let i = 0; i < 3000; i++) deep = { a: deep };
    expect(() => create({ free: deep })).toThrow("nested deeper than 1000 levels");
    expect(() => apply(undefined, "one", { free: deep })).toThrow("nested deeper than 1000 levels");
  });
});

/** Whether everything in `part` is in `whole`, items of map lists and sets wherever they stand. */
function contains(whole: unknown, part: unknown): boolean {
  if (Array.isArray(part)) {
    if (!Array.isArray(whole)) return false;
    return (
      deepEqual(whole, part) ||
      part.every((p) => whole.some((w) => (named(p) ? named(w) === named(p) && contains(w, p) : w === p)))
    );
  }
  if (typeof part !== "object" || part === null) return whole === part;
  if (typeof whole !== "object" || whole === null) return false;
  return Object.entries(part).every(([k, v]) => contains((whole as Record<string, unknown>)[k], v));
}

function named(value: unknown): string | undefined {
  return (value as { name?: string } | undefined)?.name;
}

/** Without empty containers. */
function tidy(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const entries = Object.entries(value).map(([k, v]) => [k, tidy(v)] as const);
  return Object.fromEntries(
    entries.filter(([, v]) => !(typeof v === "object" && v !== null && Object.keys(v).length === 0)),
  );
}
