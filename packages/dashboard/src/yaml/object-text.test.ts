import type { Unstructured } from "@capstan/apimachinery";
import { expect, test } from "vitest";
import { lineDiff } from "./line-diff.ts";
import { comparableTexts } from "./object-text.ts";

const pool = (spec: object, metadata: object = {}): Unstructured =>
  ({ apiVersion: "v1", kind: "Pool", metadata: { name: "a", ...metadata }, spec }) as unknown as Unstructured;

test("shows only the fields that a write changes, regardless of the order of the response", () => {
  const before = pool({ replicas: 4, members: [{ name: "own", min: 0 }] }, { resourceVersion: "1", generation: 1 });
  const after = pool({ members: [{ min: 0, name: "own" }], replicas: 5 }, { resourceVersion: "2", generation: 2 });
  const texts = comparableTexts(before, after);
  expect(lineDiff(texts.before, texts.after).filter(({ type }) => type !== "same")).toEqual([
    { type: "removed", text: "  replicas: 4" },
    { type: "added", text: "  replicas: 5" },
  ]);
});
