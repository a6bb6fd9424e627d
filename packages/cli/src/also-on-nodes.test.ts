import { expect, test } from "vitest";
import { alsoOnNodes } from "./also-on-nodes.ts";

test("patterns of labels and annotations are taken as they are given", () => {
  const lists = { additionalSyncMachineLabels: ["^topology\\.", "zone$"], additionalSyncMachineAnnotations: ["^a/"] };
  expect(alsoOnNodes({ lists })).toEqual({ labels: ["^topology\\.", "zone$"], annotations: ["^a/"] });
  expect(alsoOnNodes({ lists: {} })).toEqual({ labels: [], annotations: [] });
});

test("what is no pattern is refused before anything starts, with its option", () => {
  expect(() => alsoOnNodes({ lists: { additionalSyncMachineAnnotations: ["ok", "a(b"] } })).toThrow(
    "--additional-sync-machine-annotations a(b: error parsing regexp: missing closing ): `a(b`",
  );
});
