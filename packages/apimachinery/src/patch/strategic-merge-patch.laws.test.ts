import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { deepFreeze, isObject, type JsonObject } from "../json.ts";
import type { JSONSchemaProps } from "../schema/types.ts";
import { applyMergePatch } from "./merge-patch.ts";
import { applyStrategicMergePatch } from "./strategic-merge-patch.ts";

/** Every kind of field there is: text, maps, lists that merge by key (nested too) or by value, and one that is replaced. */
const byName = { "x-kubernetes-patch-strategy": "merge", "x-kubernetes-patch-merge-key": "name" };
const ITEM: JSONSchemaProps = {
  type: "object",
  properties: { env: { type: "array", ...byName, items: { type: "object" } } },
};
const SCHEMA: JSONSchemaProps = {
  type: "object",
  properties: {
    map: { type: "object", additionalProperties: { type: "string" } },
    keyed: { type: "array", ...byName, items: ITEM },
    set: { type: "array", "x-kubernetes-patch-strategy": "merge", items: { type: "string" } },
    whole: { type: "array", items: { type: "string" } },
  },
};

const word = fc.constantFrom("a", "b", "c", "d", "e");
const uniqueWords = fc.uniqueArray(word);
const optional = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(value, { nil: undefined });
/** Without the fields that are undefined, as JSON has them. */
const present = <T extends object>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<JsonObject> =>
  arbitrary.map((value) => JSON.parse(JSON.stringify(value)) as JsonObject);
const keyedBy = (value: fc.Arbitrary<JsonObject>): fc.Arbitrary<JsonObject[]> =>
  fc.uniqueArray(value, { selector: (item) => item["name"], maxLength: 5 });
const variable = present(fc.record({ name: word, value: optional(word) }));
const item = present(fc.record({ name: word, image: optional(word), env: optional(keyedBy(variable)) }));
const document = present(
  fc.record({
    text: optional(word),
    map: optional(fc.dictionary(word, word)),
    keyed: optional(keyedBy(item)),
    set: optional(uniqueWords),
    whole: optional(fc.array(word)),
  }),
);

const apply = (doc: unknown, patch: unknown): JsonObject =>
  applyStrategicMergePatch(deepFreeze(doc), deepFreeze(patch), SCHEMA) as JsonObject;
const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const named = (value: unknown): Map<unknown, JsonObject> =>
  new Map(list(value).flatMap((entry) => (isObject(entry) ? [[entry["name"], entry] as const] : [])));

/** The patch that kubectl would send to make `to` of `from`, with a directive for every list. */
function diff(from: JsonObject, to: JsonObject): JsonObject {
  const patch: JsonObject = {};
  for (const key of new Set([...Object.keys(from), ...Object.keys(to)])) {
    const [old, next] = [from[key], to[key]];
    if (next === undefined) patch[key] = null;
    else if (old === undefined || key === "whole" || typeof next === "string") patch[key] = next;
    else if (key === "map") patch[key] = diff(old as JsonObject, next as JsonObject);
    else if (key === "set") {
      patch[`$deleteFromPrimitiveList/${key}`] = list(old).filter((value) => !list(next).includes(value));
      patch[`$setElementOrder/${key}`] = next;
      patch[key] = list(next).filter((value) => !list(old).includes(value));
    } else {
      const [before, after] = [named(old), named(next)];
      const gone = [...before.keys()].filter((name) => !after.has(name)).map((name) => ({ $patch: "delete", name }));
      const changed = [...after].map(([name, entry]) => ({ ...diff(before.get(name) ?? {}, entry), name }));
      patch[`$setElementOrder/${key}`] = [...after.keys()].map((name) => ({ name }));
      patch[key] = [...changed, ...gone];
    }
  }
  return patch;
}

describe("strategic merge patch", () => {
  test("an empty one changes nothing", () => {
    fc.assert(
      fc.property(document, (doc) => {
        expect(apply(doc, {})).toEqual(doc);
      }),
    );
  });

  test("one made of a difference gives the target back, order included", () => {
    fc.assert(
      fc.property(document, document, (from, to) => {
        expect(apply(from, diff(from, to))).toEqual(to);
      }),
      { numRuns: 1000 },
    );
  });

  test("twice is once, with and without directives", () => {
    fc.assert(
      fc.property(document, document, document, fc.boolean(), (doc, from, to, directives) => {
        const patch = directives ? diff(from, to) : to;
        const once = apply(doc, patch);
        expect(apply(once, patch)).toEqual(once);
      }),
      { numRuns: 1000 },
    );
  });

  test("where no lists merge it is a merge patch", () => {
    const plain = fc.dictionary(word, fc.oneof(word, fc.constant(null), fc.dictionary(word, fc.option(word))));
    fc.assert(
      fc.property(plain, plain, (doc, patch) => {
        const clean = applyMergePatch({}, doc);
        expect(apply(clean, patch)).toEqual(applyMergePatch(clean, patch));
      }),
    );
  });

  test("keyed lists keep each key once, lose nothing that is not named, and take every item of the patch", () => {
    fc.assert(
      fc.property(keyedBy(item), keyedBy(item), (old, changes) => {
        const result = list(apply({ keyed: old }, { keyed: changes })["keyed"]);
        expect(result.length).toBe(named(result).size);
        for (const [name, entry] of named(old))
          if (!named(changes).has(name)) expect(named(result).get(name)).toEqual(entry);
        for (const [name, entry] of named(changes))
          expect(named(result).get(name)).toMatchObject({ name, ...imageOf(entry) });
        expect(result.length).toBe(new Set([...named(old).keys(), ...named(changes).keys()]).size);
      }),
    );
  });

  test("$patch: delete takes out exactly what it names", () => {
    fc.assert(
      fc.property(keyedBy(item), uniqueWords, (old, names) => {
        const gone = names.map((name) => ({ $patch: "delete", name }));
        const want = old.filter((entry) => !names.some((name) => name === entry["name"]));
        expect(apply({ keyed: old }, { keyed: gone })).toEqual({ keyed: want });
      }),
    );
  });

  test("$patch: replace leaves only what it brings, of maps and of lists", () => {
    fc.assert(
      fc.property(document, keyedBy(item), fc.dictionary(word, word), (doc, keyed, map) => {
        const start = { ...doc, map: { z: "z" }, keyed: [{ name: "z" }] };
        const patch = { map: { $patch: "replace", ...map }, keyed: [{ $patch: "replace" }, ...keyed] };
        expect(apply(start, patch)).toEqual({ ...start, map, keyed });
      }),
    );
  });

  test("$retainKeys leaves no other key, and values it does not set", () => {
    fc.assert(
      fc.property(fc.dictionary(word, word), fc.dictionary(word, word), uniqueWords, (old, set, more) => {
        const retained = [...new Set([...Object.keys(set), ...more])];
        const { map } = apply({ map: old }, { map: { ...set, $retainKeys: retained } });
        const kept = Object.entries(old).filter(([key]) => retained.includes(key));
        expect(map).toEqual({ ...Object.fromEntries(kept), ...set });
      }),
    );
  });

  test("$deleteFromPrimitiveList leaves the rest in its order, in lists of every strategy", () => {
    fc.assert(
      fc.property(uniqueWords, uniqueWords, fc.constantFrom("set", "whole"), (old, gone, key) => {
        const patch = { [`$deleteFromPrimitiveList/${key}`]: gone };
        expect(apply({ [key]: old }, patch)).toEqual({ [key]: old.filter((value) => !gone.includes(value)) });
      }),
    );
  });

  test("$setElementOrder moves items and neither adds nor loses one", () => {
    fc.assert(
      fc.property(keyedBy(item), uniqueWords, (old, order) => {
        const patch = { "$setElementOrder/keyed": order.map((name) => ({ name })) };
        const result = list(apply({ keyed: old }, patch)["keyed"]) as JsonObject[];
        expect(named(result)).toEqual(named(old));
        const names = result.map(({ name }) => String(name));
        expect(names.filter((name) => order.some((o) => o === name))).toEqual(
          order.filter((name) => names.includes(name)),
        );
        const others = (entries: JsonObject[]): JsonObject[] =>
          entries.filter(({ name }) => !order.some((o) => o === name));
        expect(others(result)).toEqual(others(old));
      }),
    );
  });
});

function imageOf({ image }: JsonObject): JsonObject {
  return image === undefined ? {} : { image };
}
