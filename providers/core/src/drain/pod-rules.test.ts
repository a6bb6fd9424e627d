import type { KubeObject } from "@capstan/apimachinery";
import type { Cluster, Machine, Node } from "@capstan/capi";
import { describe, expect, test } from "vitest";
import type { Pod } from "./kinds.ts";
import { type DrainRule, judgePod, type PodContext, rulesFor } from "./pod-rules.ts";

const NOW = Date.UTC(2026, 0, 1);

function pod(metadata: Partial<Pod["metadata"]>, more: Partial<Pod> = {}): Pod {
  const owner = { apiVersion: "apps/v1", kind: "ReplicaSet", name: "r", uid: "u", controller: true };
  const base = { name: "p", namespace: "apps", ownerReferences: [owner] };
  return { apiVersion: "v1", kind: "Pod", metadata: { ...base, ...metadata }, ...more };
}

const ownedBy = (kind: string): Partial<Pod["metadata"]> => ({
  ownerReferences: [{ apiVersion: "apps/v1", kind, name: "d", uid: "u", controller: true }],
});

const node = (taint?: string): Node => ({
  apiVersion: "v1",
  kind: "Node",
  metadata: { name: "n" },
  spec: taint === undefined ? {} : { taints: [{ key: taint, effect: "NoExecute" }] },
});

const rule = (name: string, drain: DrainRule["spec"]["drain"], more: Partial<DrainRule["spec"]> = {}): DrainRule => ({
  metadata: { name },
  spec: { drain, ...more },
});

function context(more: Partial<PodContext> = {}): PodContext {
  const namespace: KubeObject = {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name: "apps", labels: { env: "x" } },
  };
  return {
    node: node(),
    rules: [],
    namespaces: new Map([["apps", namespace]]),
    daemonSets: new Set(["apps/d"]),
    nowMs: NOW,
    ...more,
  };
}

const skipAll = rule("a", { behavior: "Skip" });
const byLabel = rule("b", { behavior: "Drain", order: 5 }, { pods: [{ selector: { matchLabels: { app: "db" } } }] });
const byNamespace = rule(
  "c",
  { behavior: "WaitCompleted" },
  { pods: [{ namespaceSelector: { matchLabels: { env: "x" } } }] },
);

describe("judging Pods", () => {
  test.each<[string, Pod, Partial<PodContext>, string]>([
    ["an ordinary Pod", pod({}), {}, "evict 0"],
    ["a Pod of a DaemonSet", pod(ownedBy("DaemonSet")), {}, "skip"],
    ["a Pod of a DaemonSet that is gone", pod(ownedBy("DaemonSet")), { daemonSets: new Set() }, "evict 0"],
    ["a finished Pod of a DaemonSet", pod(ownedBy("DaemonSet"), { status: { phase: "Failed" } }), {}, "evict 0"],
    ["a static Pod", pod({ annotations: { "kubernetes.io/config.mirror": "x" } }), {}, "skip"],
    ["labelled skip", pod({ labels: { "cluster.x-k8s.io/drain": "skip" } }), {}, "skip"],
    ["labelled to wait for", pod({ labels: { "cluster.x-k8s.io/drain": "wait-completed" } }), {}, "wait"],
    [
      "labelled to wait for, and done",
      pod({ labels: { "cluster.x-k8s.io/drain": "wait-completed" } }, { status: { phase: "Succeeded" } }),
      {},
      "skip",
    ],
    [
      "a label beats rules",
      pod({ labels: { "cluster.x-k8s.io/drain": "wait-completed" } }),
      { rules: [skipAll] },
      "wait",
    ],
    ["by rule of label", pod({ labels: { app: "db" } }), { rules: [byLabel, skipAll] }, "evict 5"],
    ["first rule that matches", pod({ labels: { app: "web" } }), { rules: [byLabel, skipAll] }, "skip"],
    ["by rule of namespace", pod({}), { rules: [byNamespace] }, "wait"],
    ["no rule matches", pod({ namespace: "other" }), { rules: [byNamespace, byLabel] }, "evict 0"],
    [
      "deleted long ago on an unreachable Node",
      pod({ deletionTimestamp: "2025-12-31T23:59:00Z" }),
      { node: node("node.kubernetes.io/unreachable") },
      "skip",
    ],
    ["deleted long ago on a Node that answers", pod({ deletionTimestamp: "2025-12-31T23:59:00Z" }), {}, "evict 0"],
  ])("%s", (_, given, more, expected) => {
    const verdict = judgePod(given, context(more));
    expect(verdict.do === "evict" ? `evict ${verdict.order}` : verdict.do).toBe(expected);
  });

  test("a Pod without controller is evicted with a warning", () => {
    expect(judgePod(pod({ ownerReferences: [] }), context())).toMatchObject({
      do: "evict",
      warning: expect.stringContaining("no controller brings them back"),
    });
  });
});

test("rules are chosen by Machine and Cluster, and count by name", () => {
  const machine = { metadata: { labels: { pool: "a" } } } as unknown as Machine;
  const cluster = { metadata: { labels: { region: "eu" } } } as unknown as Cluster;
  const selected = (key: string, value: string): NonNullable<DrainRule["spec"]["machines"]> => [
    { selector: { matchLabels: { [key]: value } } },
  ];
  const rules = [
    rule("z", { behavior: "Skip" }),
    rule("other-pool", { behavior: "Skip" }, { machines: selected("pool", "b") }),
    rule("my-pool", { behavior: "Skip" }, { machines: selected("pool", "a") }),
    rule("my-region", { behavior: "Skip" }, { machines: [{ clusterSelector: { matchLabels: { region: "eu" } } }] }),
    rule("their-region", { behavior: "Skip" }, { machines: [{ clusterSelector: { matchLabels: { region: "us" } } }] }),
  ];
  expect(rulesFor(rules, machine, cluster).map(({ metadata }) => metadata.name)).toEqual(["my-pool", "my-region", "z"]);
});
