import { compileSchema, deepCopy, type Unstructured } from "@capstan/apimachinery";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import * as kinds from "../kinds/all.ts";
import type { KindVersion } from "../schema/kind.ts";
import { arbitraryObjectOf } from "../testing/arbitrary.ts";
import { CONVERSION_DATA_ANNOTATION } from "./converter.ts";

interface Converted {
  group: string;
  kind: string;
  stored: KindVersion;
  old: KindVersion;
}

const converted: Converted[] = kinds.ALL_KINDS.flatMap(({ group, kind, versions }) => {
  const [stored, old] = versions;
  return stored === undefined || old === undefined ? [] : [{ group, kind, stored, old }];
});

const RUNS = { numRuns: 40 };

describe.each(converted)("$kind", ({ group, kind, stored, old }) => {
  const { toStored, fromStored } = old.convert ?? expect.fail("no conversion");
  const storedObjects = arbitraryObjectOf(`${group}/${stored.name}`, kind, stored.schema.json);
  const oldObjects = arbitraryObjectOf(`${group}/${old.name}`, kind, old.schema.json);

  it("comes back from the old version as it was", () => {
    fc.assert(
      fc.property(storedObjects, (object) => {
        expect(toStored(fromStored(object as Unstructured))).toEqual(object);
      }),
      RUNS,
    );
  });

  it("comes back from the stored version as it was", () => {
    fc.assert(
      fc.property(oldObjects, (object) => {
        const back = fromStored(toStored(object as Unstructured));
        expect(withoutDefaults(back, object as Unstructured)).toEqual(object);
        // Once filled, nothing changes any more.
        expect(fromStored(toStored(back))).toEqual(back);
      }),
      RUNS,
    );
  });

  it("has no field that the other version's schema does not know", () => {
    const storedSchema = compileSchema(root(stored));
    const oldSchema = compileSchema(root(old));
    fc.assert(
      fc.property(storedObjects, oldObjects, (hub, spoke) => {
        expect(storedSchema.prune(deepCopy(toStored(spoke as Unstructured)), { root: true })).toEqual([]);
        expect(oldSchema.prune(deepCopy(fromStored(hub as Unstructured)), { root: true })).toEqual([]);
      }),
      RUNS,
    );
  });

  it("survives any annotation", () => {
    fc.assert(
      fc.property(oldObjects, fc.oneof(fc.json(), fc.string()), (object, data) => {
        const spoiled = deepCopy(object) as Unstructured;
        spoiled.metadata.annotations = { [CONVERSION_DATA_ANNOTATION]: data };
        expect(toStored(spoiled).kind).toBe(kind);
      }),
      RUNS,
    );
  });
});

function root(version: KindVersion): KindVersion["schema"]["json"] {
  return { ...version.schema.json, type: "object" };
}

/** References of the old version get the object's namespace, and Nodes their kind, when they come back. */
function withoutDefaults(back: unknown, original: unknown): unknown {
  if (Array.isArray(back) && Array.isArray(original)) return back.map((item, i) => withoutDefaults(item, original[i]));
  if (typeof back !== "object" || back === null || typeof original !== "object" || original === null) return back;
  const before = original as Record<string, unknown>;
  const isReference = "kind" in back || "namespace" in back;
  return Object.fromEntries(
    Object.entries(back)
      .filter(([key, value]) => {
        if (before[key] !== undefined) return true;
        if (!isReference) return true;
        return !(
          (key === "namespace" && value === "some-space") ||
          (key === "kind" && value === "Node") ||
          (key === "apiVersion" && value === "v1")
        );
      })
      .map(([key, value]) => [key, withoutDefaults(value, before[key])]),
  );
}
