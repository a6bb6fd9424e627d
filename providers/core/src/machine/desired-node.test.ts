import type { Machine, Node } from "@capstan/capi";
import { expect, test } from "vitest";
import { desiredNode } from "./desired-node.ts";
import { nodeKeys } from "./node-keys.ts";

const machine = (more: { spec?: object; owner?: string } = {}): Machine =>
  ({
    apiVersion: "cluster.x-k8s.io/v1beta2",
    kind: "Machine",
    metadata: {
      namespace: "n",
      name: "m",
      ...(more.owner === undefined
        ? {}
        : {
            ownerReferences: [
              {
                apiVersion: "cluster.x-k8s.io/v1beta2",
                kind: "MachineSet",
                name: more.owner,
                uid: "u",
                controller: true,
              },
            ],
          }),
    },
    spec: { clusterName: "c", ...more.spec },
  }) as unknown as Machine;

const node: Node = { apiVersion: "v1", kind: "Node", metadata: { name: "x" } };
const wanted = (from: Node, of: Machine, interruptible = false): Node =>
  desiredNode(from, { machine: of, interruptible, outdated: false, keys: nodeKeys() });
const taints = ({ spec }: Node): string[] => (spec?.taints ?? []).map(({ key, value }) => `${key}=${value ?? ""}`);
const taint = (key: string, propagation: string, value?: string): object => ({
  key,
  effect: "NoSchedule",
  propagation,
  value,
});

test("a taint for the beginning does not reach a Node that has begun without taints", () => {
  const begun = wanted(node, machine());
  expect(taints(wanted(begun, machine({ spec: { taints: [taint("a", "OnInitialization")] } })))).toEqual([]);
  expect(taints(wanted(begun, machine({ spec: { taints: [taint("a", "Always")] } })))).toEqual(["a="]);
});

test("a taint that is no longer looked after stays as it is, one that is gone goes", () => {
  const always = wanted(node, machine({ spec: { taints: [taint("a", "Always", "1"), taint("b", "Always")] } }));
  expect(taints(always)).toEqual(["a=1", "b="]);
  const later = wanted(always, machine({ spec: { taints: [taint("a", "OnInitialization", "2")] } }));
  expect(taints(later)).toEqual(["a=1"]);
  expect(taints(wanted(later, machine()))).toEqual(["a=1"]);
});

test("a Node that is no longer interruptible loses the label; one that somebody else set stays", () => {
  const label = "cluster.x-k8s.io/interruptible";
  const interruptible = wanted(node, machine(), true);
  expect(interruptible.metadata.labels).toEqual({ [label]: "" });
  expect(wanted(interruptible, machine()).metadata.labels).toEqual({});
  const foreign = { ...node, metadata: { ...node.metadata, labels: { [label]: "" } } };
  expect(wanted(foreign, machine()).metadata.labels).toEqual({ [label]: "" });
});

test("the owner's name goes with the owner", () => {
  const owned = wanted(node, machine({ owner: "s" }));
  expect(owned.metadata.annotations).toMatchObject({
    "cluster.x-k8s.io/owner-kind": "MachineSet",
    "cluster.x-k8s.io/owner-name": "s",
  });
  expect(
    Object.keys(wanted(owned, machine()).metadata.annotations ?? {}).filter((key) => key.includes("owner")),
  ).toEqual([]);
});

test("syncs labels and annotations requested in addition to upstream's to the Node, and removes them with the Machine's", () => {
  const keys = nodeKeys({ labels: ["^topology\\.example\\.com/"], annotations: ["owner$"] });
  const put = (from: Node, labels: object, annotations: object): Node => {
    const of = machine();
    const metadata = { ...of.metadata, labels, annotations } as Machine["metadata"];
    return desiredNode(from, { machine: { ...of, metadata }, interruptible: false, outdated: false, keys });
  };
  const labels = {
    "topology.example.com/rack": "r1",
    "my.topology.example.com/x": "",
    "node-role.kubernetes.io/w": "",
  };
  const first = put(node, labels, { "example.com/owner": "me", other: "no" });
  expect(first.metadata.labels).toEqual({ "topology.example.com/rack": "r1", "node-role.kubernetes.io/w": "" });
  expect(first.metadata.annotations).toMatchObject({
    "example.com/owner": "me",
    "cluster.x-k8s.io/labels-from-machine": "node-role.kubernetes.io/w,topology.example.com/rack",
    "cluster.x-k8s.io/annotations-from-machine": "example.com/owner",
  });
  expect(first.metadata.annotations).not.toHaveProperty("other");
  const second = put(first, {}, {});
  expect(second.metadata.labels).toEqual({});
  expect(second.metadata.annotations).not.toHaveProperty("example.com/owner");
});

test("a pattern that is none is no silent choice of nothing", () => {
  expect(() => nodeKeys({ labels: ["a(b"] })).toThrow('"a(b": error parsing regexp: missing closing )');
});
