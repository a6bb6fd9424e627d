import { expect, test } from "vitest";
import { nodeKeys } from "./node-keys.ts";

// The prefixes and domains of Cluster API's "metadata propagation": labels and annotations that go from Machines to Nodes.
test.each<[string, boolean, boolean]>([
  ["node-role.kubernetes.io/worker", true, false],
  ["node-role.kubernetes.io/", true, false],
  ["x.node-role.kubernetes.io/worker", false, false],
  ["node-restriction.kubernetes.io/a", true, false],
  ["x.node-restriction.kubernetes.io/a", true, false],
  ["xnode-restriction.kubernetes.io/a", false, false],
  ["node.cluster.x-k8s.io/a", true, true],
  ["x.node.cluster.x-k8s.io/a", true, true],
  ["xnode.cluster.x-k8s.io/a", false, false],
  ["cluster.x-k8s.io/a", false, false],
  ["node.cluster.x-k8s.io", false, false],
  ["/a", false, false],
  ["a", false, false],
])("%s goes to Nodes as a label: %s, as an annotation: %s", (key, label, annotation) => {
  const keys = nodeKeys();
  expect([keys.label(key), keys.annotation(key)]).toEqual([label, annotation]);
});

test("additional patterns select labels and annotations separately", () => {
  const keys = nodeKeys({ labels: ["^example\\.com/", "b$"], annotations: ["note"] });
  expect(["example.com/x", "xb", "a", "a-note"].map((key) => keys.label(key))).toEqual([true, true, false, false]);
  expect(["example.com/x", "a-note", "a"].map((key) => keys.annotation(key))).toEqual([false, true, false]);
});

test("refuses a pattern that is no regular expression, and names it", () => {
  expect(() => nodeKeys({ labels: ["("] })).toThrow('"(": error parsing regexp: missing closing ): `(`');
});
