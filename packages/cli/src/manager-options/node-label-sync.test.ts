import { expect, test } from "vitest";
import { nodeLabelSync } from "./node-label-sync.ts";

test("passes on patterns of labels and annotations unchanged", () => {
  const lists = { additionalSyncMachineLabels: ["^topology\\.", "zone$"], additionalSyncMachineAnnotations: ["^a/"] };
  expect(nodeLabelSync({ lists })).toEqual({ labels: ["^topology\\.", "zone$"], annotations: ["^a/"] });
  expect(nodeLabelSync({ lists: {} })).toEqual({ labels: [], annotations: [] });
});

test("rejects an invalid pattern before anything starts, and names its option", () => {
  expect(() => nodeLabelSync({ lists: { additionalSyncMachineAnnotations: ["ok", "a(b"] } })).toThrow(
    "--additional-sync-machine-annotations a(b: error parsing regexp: missing closing ): `a(b`",
  );
});
