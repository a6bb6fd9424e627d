import type { Condition } from "@capstan/apimachinery";
import type { ObjectState, StateName } from "@capstan/capi";
import type { ClusterItem, ObjectItem } from "@capstan/dashboard-server";
import { expect, test } from "vitest";
import { graphModel, titleOf } from "./graph-model.ts";
import { clusterTree, healthOf, type TreeNode } from "./tree.ts";

const condition = (type: string, status: Condition["status"], message = ""): Condition => ({
  type,
  status,
  reason: "Because",
  message,
  lastTransitionTime: "2026-01-01T00:00:00Z",
});

const state = (name: StateName): ObjectState => ({
  state: name,
  reason: "Because",
  message: "",
  since: "2026-01-01T00:00:00Z",
});

const item = (kind: string, name: string, parent?: string, more: Partial<ObjectItem> = {}): ObjectItem => ({
  type: "object",
  id: `${kind}/${name}`,
  apiVersion: "x/v1",
  kind,
  plural: "xs",
  namespace: "n",
  name,
  parent,
  conditions: [condition("Ready", "True")],
  deleting: false,
  created: "",
  facts: {},
  state: state("Healthy"),
  ...more,
});

function rootOf(items: ClusterItem[]): TreeNode {
  const { root } = clusterTree(items);
  if (root === undefined) throw new Error("no root");
  return root;
}

test("attaches parts to their parents in any order, and orphans to the cluster", () => {
  const root = rootOf([
    item("ByoMachine", "m", "Machine/m"),
    item("Machine", "m", "MachineDeployment/md"),
    item("MachineDeployment", "md", "Cluster/c"),
    item("ByoCluster", "c", "MetaCluster/unseen"),
    item("Cluster", "c"),
  ]);
  expect(root.children.map((child) => child.item.id)).toEqual(["ByoCluster/c", "MachineDeployment/md"]);
  expect(root.children[1]?.children[0]?.children[0]?.item.id).toBe("ByoMachine/m");
});

test("groups many healthy machines into one box, apart from a degraded one", () => {
  const machines = Array.from({ length: 9 }, (_, i) =>
    item("Machine", `m${i}`, "MachineDeployment/md", i === 4 ? { state: state("Degraded") } : {}),
  );
  const parts = machines.map((m) => item("MemoryMachine", m.name, m.id, { provider: "memory" }));
  const { nodes, edges } = graphModel(
    rootOf([item("Cluster", "c"), item("MachineDeployment", "md", "Cluster/c"), ...machines, ...parts]),
  );
  expect(nodes.find((node) => node.count === 8)).toMatchObject({ title: "8 machines", provider: "memory" });
  expect(nodes.find((node) => node.id === "Machine/m4")?.health).toBe("bad");
  // The infrastructure object of a Machine has no box of its own while it is healthy.
  expect(nodes).toHaveLength(4);
  expect(edges).toHaveLength(3);
});

test("attaches a host to its Machine unless an object between them is degraded", () => {
  const picture = (name: StateName): string[] =>
    graphModel(
      rootOf([
        item("Cluster", "c"),
        item("Machine", "m", "Cluster/c"),
        item("ByoMachine", "m", "Machine/m", { provider: "byo", state: state(name) }),
        item("ByoHost", "own-1", "ByoMachine/m", { provider: "byo" }),
      ]),
    ).edges.map(({ from, to, health }) => `${from} ${to} ${health}`);
  expect(picture("Healthy")).toEqual(["Cluster/c Machine/m good", "Machine/m ByoHost/own-1 good"]);
  expect(picture("Degraded")).toContain("Machine/m ByoMachine/m bad");
});

test.each([
  ["general-own-fznb6-ckn28", "general-own", "…fznb6-ckn28"],
  ["own-1", "general", "own-1"],
  ["a-b", "a", "a-b"],
])("%s below %s is %s", (name, parent, title) => {
  expect(titleOf(name, parent)).toBe(title);
});

test.each([
  ["Healthy", "good"],
  ["Progressing", "wait"],
  ["Degraded", "bad"],
  ["Paused", "plain"],
  ["Hibernated", "plain"],
  ["Unknown", "unknown"],
] as const)("%s looks %s", (name, tone) => {
  expect(healthOf(rootOf([item("Cluster", "c", undefined, { state: state(name) })]))).toBe(tone);
});

test("sorts the timeline newest first", () => {
  const at = (time: string): ClusterItem => ({
    type: "event",
    at: time,
    kind: "Machine",
    name: "m",
    reason: time,
    message: "",
    warning: false,
  });
  expect(clusterTree([at("2026-01-01"), at("2026-01-03"), at("2026-01-02")]).timeline.map((t) => t.reason)).toEqual([
    "2026-01-03",
    "2026-01-02",
    "2026-01-01",
  ]);
});
