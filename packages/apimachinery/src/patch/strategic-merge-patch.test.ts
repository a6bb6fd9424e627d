import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { deepFreeze } from "../json.ts";
import type { JSONSchemaProps } from "../schema/types.ts";
import { ApiError } from "../status.ts";
import { applyStrategicMergePatch } from "./strategic-merge-patch.ts";

// What a real kube-apiserver made of these patches (`tools/record-objects`).
function load<T>(name: string): T {
  return JSON.parse(readFileSync(new URL(`../../testdata/${name}`, import.meta.url), "utf8"));
}

interface Pod {
  metadata: object;
  containers: object[];
  volumes?: object[];
  nodeSelector?: object;
}

const { base, patches } = load<{ base: Pod; patches: { metadata?: object; spec?: object }[] }>("strategic.json");
const { results } = load<{ results: (Pod & { error?: string; code?: number })[] }>("strategic.golden.json");

const byName = { "x-kubernetes-patch-strategy": "merge", "x-kubernetes-patch-merge-key": "name" };
const SCHEMA: JSONSchemaProps = {
  type: "object",
  properties: {
    spec: {
      type: "object",
      properties: {
        containers: {
          type: "array",
          ...byName,
          items: {
            type: "object",
            properties: {
              env: { type: "array", ...byName, items: { type: "object" } },
              args: { type: "array", items: { type: "string" } },
            },
          },
        },
        volumes: {
          type: "array",
          ...byName,
          "x-kubernetes-patch-strategy": "merge,retainKeys",
          items: { type: "object" },
        },
        nodeSelector: { type: "object", additionalProperties: { type: "string" } },
      },
    },
  },
};

const { metadata, ...spec } = base;
const doc = deepFreeze({ metadata: { ...metadata, labels: { app: "x" } }, spec });

for (const [i, patch] of patches.entries()) {
  test(`patch ${JSON.stringify(patch)}`, () => {
    const want = results[i];
    if (want?.error !== undefined) {
      // Upstream calls most of these its own failure (500): docs/differences.md, `mistakes-are-400`.
      const refusal = (): unknown => applyStrategicMergePatch(doc, deepFreeze(patch), SCHEMA);
      expect(refusal).toThrow(ApiError);
      expect(refusal).toThrow(want.error);
      return;
    }
    const patched = applyStrategicMergePatch(doc, deepFreeze(patch), SCHEMA) as { metadata: object; spec: object };
    const got = JSON.parse(JSON.stringify({ metadata: patched.metadata, ...patched.spec }));
    expect(withoutEmpty(got)).toEqual(withoutEmpty(want));
  });
}

/** A typed server leaves out containers that became empty. */
function withoutEmpty(value: unknown): unknown {
  const entries = Object.entries(value as object).filter(([k, v]) => k !== "emptyDir" && !isEmpty(v));
  return Object.fromEntries(
    entries.map(([k, v]) => [k, k === "metadata" ? withoutEmpty(v) : Array.isArray(v) ? v.map(tidy) : v]),
  );
}

function tidy(item: unknown): unknown {
  if (typeof item !== "object" || item === null) return item;
  return Object.fromEntries(Object.entries(item).filter(([, v]) => !(Array.isArray(v) && v.length === 0)));
}

function isEmpty(v: unknown): boolean {
  return typeof v === "object" && v !== null && Object.keys(v).length === 0;
}

test("what is no object cannot merge into a list of objects", () => {
  expect(() => applyStrategicMergePatch(doc, { spec: { containers: ["a"] } }, SCHEMA)).toThrow(ApiError);
});

test("patches that are no objects are refused", () => {
  expect(() => applyStrategicMergePatch({}, [1], SCHEMA)).toThrow(
    "json: cannot unmarshal array into Go value of type map[string]interface {}",
  );
});

test("owner references merge by uid, in every built-in", () => {
  const owned = { metadata: { ownerReferences: [{ uid: "1", name: "a" }] } };
  const patched = applyStrategicMergePatch(
    owned,
    {
      metadata: {
        ownerReferences: [
          { uid: "2", name: "b" },
          { uid: "1", name: "c" },
        ],
      },
    },
    {},
  );
  expect(patched).toEqual({
    metadata: {
      ownerReferences: [
        { uid: "2", name: "b" },
        { uid: "1", name: "c" },
      ],
    },
  });
});
