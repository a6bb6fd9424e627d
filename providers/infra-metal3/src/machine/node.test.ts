import type { Node, NodeView } from "@capstan/capi";
import { expect, test } from "vitest";
import type { BareMetalHost } from "../kinds/bare-metal-host.ts";
import type { Metal3Machine } from "../kinds/metal3-machine.ts";
import { findNode, labelChanges } from "./node.ts";

const HOST = { metadata: { namespace: "ns", name: "h1", uid: "uid-1" }, spec: {} } as unknown as BareMetalHost;
const machine = (providerID?: string): Metal3Machine =>
  ({ metadata: { namespace: "ns", name: "m1" }, spec: { providerID } }) as unknown as Metal3Machine;
const node = (name: string, providerID?: string, labels: Record<string, string> = {}): Node =>
  ({ metadata: { name, labels }, spec: { providerID } }) as unknown as Node;
const view = (nodes: Node[]): NodeView => ({
  list: () => nodes,
  get: (name) => nodes.find(({ metadata }) => metadata.name === name),
  byProviderID: (id) => nodes.find(({ spec }) => spec?.providerID === id),
});
const UUID = { "metal3.io/uuid": "uid-1" };
const OURS = "metal3://ns/h1/m1";

test.each<[string, Node[], string | undefined, object]>([
  ["its provider ID", [node("n", OURS)], undefined, { providerID: OURS, mustSet: false }],
  ["the older form", [node("n", "metal3://uid-1")], undefined, { providerID: "metal3://uid-1", mustSet: false }],
  ["the label of its host", [node("n", undefined, UUID)], undefined, { providerID: OURS, mustSet: true }],
  ["its name", [node("h1")], undefined, { providerID: OURS, mustSet: true }],
  ["the label before the name", [node("h1"), node("n", "", UUID)], undefined, { node: { metadata: { name: "n" } } }],
  ["what it was known by before a move", [node("n", "metal3://ns/h1/m1", {})], OURS, { mustSet: false }],
  ["nothing", [node("x"), node("y", "byoh://x/1")], undefined, { missing: true }],
])("a Node is found by %s", (_, nodes, known, expected) => {
  expect(findNode(view(nodes), machine(known), HOST, ["h1"])).toMatchObject(expected);
});

test.each<[string, Node[], RegExp]>([
  [
    "two Nodes with the label",
    [node("a", "", UUID), node("b", "", UUID)],
    /Nodes a and b all have the label metal3.io\/uuid=uid-1: delete/,
  ],
  [
    "a Node of another machine",
    [node("h1", "metal3://ns/h1/m0")],
    /Node h1 is metal3:\/\/ns\/h1\/m0, not metal3:\/\/ns\/h1\/m1: delete that Node/,
  ],
])("reports %s with what to do", (_, nodes, text) => {
  expect(findNode(view(nodes), machine(), HOST, ["h1"])).toEqual({ problem: expect.stringMatching(text) });
});

test.each<[string, Record<string, string>, Record<string, string>, string[], object | undefined]>([
  ["a label of the host is copied", { "rack.example/row": "3" }, {}, ["rack.example"], { "rack.example/row": "3" }],
  ["a changed one is changed", { "r.e/row": "4" }, { "r.e/row": "3" }, ["r.e"], { "r.e/row": "4" }],
  ["one that the host lost is taken away", {}, { "r.e/row": "3", other: "x" }, ["r.e"], { "r.e/row": null }],
  ["other prefixes are left alone", { "x.y/a": "1" }, { "z.y/b": "2" }, ["r.e"], undefined],
  ["a prefix is a whole one", { "r.extra/a": "1" }, {}, ["r.e"], undefined],
  ["equal labels need no write", { "r.e/row": "3" }, { "r.e/row": "3" }, ["r.e"], undefined],
  ["no prefix, nothing", { "r.e/row": "3" }, {}, [], undefined],
])("label sync: %s", (_, onHost, onNode, prefixes, expected) => {
  const host = { ...HOST, metadata: { ...HOST.metadata, labels: onHost } };
  expect(labelChanges(node("n", OURS, onNode), host, prefixes)).toEqual(expected);
});
