import type { Node, WorkloadClusters } from "@capstan/capi";
import { expect, test } from "vitest";
import { kubeletProblem, nodesRefuse } from "./kubelet-skew.ts";

const node = (name: string, kubeletVersion?: string): Node => ({
  apiVersion: "v1",
  kind: "Node",
  metadata: { name },
  status: kubeletVersion === undefined ? {} : { nodeInfo: { kubeletVersion } },
});

// Kubernetes' version skew policy: kubelets up to three minor versions older, never newer.
test.each([
  ["v1.35.0", ["v1.35.9", "v1.34.4", "v1.32.0"], undefined],
  ["v1.35.0", ["v1.31.14"], "KubeletTooOld"],
  ["v1.35.0", ["v1.36.0", "v1.31.0"], "KubeletTooOld"],
  ["v1.35.0", ["v1.36.0-rc.1"], "KubeletTooNew"],
  ["v1.35.0", ["", "not a version"], undefined],
])("kube-apiserver %s with kubelets %j: %s", (version, kubelets, reason) => {
  const nodes = kubelets.map((kubelet, index) => node(`n${index}`, kubelet));
  expect(kubeletProblem([...nodes, node("new")], version)?.reason).toBe(reason);
});

test("names only some of many nodes", () => {
  const nodes = Array.from({ length: 9 }, (_, index) => node(`n${index}`, "v1.30.1"));
  expect(kubeletProblem(nodes, "v1.34.4")?.message).toMatch(/n0 has v1\.30\.1, .*n4 has v1\.30\.1 and 4 more do too;/);
});

test("a node newer than the target version does not block an upgrade that reduces the skew", () => {
  const nodes = { list: () => [node("early", "v1.36.1")] };
  const clusters = { get: () => ({ state: "connected", nodes }), subscribe: () => () => undefined };
  const cluster = { namespace: "default", name: "c1" };
  expect(nodesRefuse(clusters as unknown as WorkloadClusters, cluster, "v1.35.0")).toBeUndefined();
});
