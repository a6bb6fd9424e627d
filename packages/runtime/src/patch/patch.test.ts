import { type KubeObject, seededRandom, VirtualClock } from "@capstan/apimachinery";
import { createApiServer, memoryStore } from "@capstan/apiserver";
import { afterEach, describe, expect, test } from "vitest";
import { Client, isConflict } from "../client/client.ts";
import { kindRef } from "../kind.ts";
import { changesBetween } from "./changes.ts";
import { ensureFinalizer, releaseFinalizer } from "./finalizers.ts";
import { writeChanges } from "./write-changes.ts";

interface NodeObject extends KubeObject {
  spec?: { taints?: { key: string; effect: string }[]; unschedulable?: boolean };
  status?: { phase?: string; addresses?: { type: string; address: string }[] };
}

const Node = kindRef<NodeObject>({ group: "", version: "v1", kind: "Node", plural: "nodes", namespaced: false });
const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function start() {
  const clock = new VirtualClock();
  const server = await createApiServer({ store: memoryStore(), clock, random: seededRandom(1), controllers: false });
  cleanups.push(() => server.close());
  const client = new Client(server.admin(), { fieldManager: "test", clock });
  const node = await client.create<NodeObject>({ apiVersion: "v1", kind: "Node", metadata: { name: "n" } });
  return { client, node };
}

describe("changesBetween", () => {
  const before: NodeObject = {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name: "n", resourceVersion: "5", labels: { a: "1", b: "2" } },
    spec: { unschedulable: true },
    status: { phase: "Old" },
  };

  test.each<[string, NodeObject, object]>([
    ["nothing", { ...before }, { main: undefined, status: undefined }],
    [
      "what the server keeps",
      { ...before, metadata: { ...before.metadata, resourceVersion: "6", generation: 4 } },
      { main: undefined, status: undefined },
    ],
    [
      "a label gone",
      { ...before, metadata: { name: "n", labels: { a: "1" } } },
      { main: { metadata: { labels: { b: null } } }, status: undefined },
    ],
    ["spec", { ...before, spec: {} }, { main: { spec: { unschedulable: null } }, status: undefined }],
    ["status", { ...before, status: { phase: "New" } }, { main: undefined, status: { status: { phase: "New" } } }],
  ])("%s", (_, after, expected) => {
    expect(changesBetween(before, after)).toEqual(expected);
  });
});

describe("writeChanges", () => {
  test("writes spec and status separately, and nothing without changes", async () => {
    const { client, node } = await start();
    const written = await writeChanges(client, node, {
      ...node,
      metadata: { ...node.metadata, labels: { x: "y" } },
      status: { ...node.status, phase: "Running" },
    });
    expect(written.metadata.labels).toEqual({ x: "y" });
    expect((await client.get(Node, { name: "n" }))?.status?.phase).toBe("Running");
    expect(await writeChanges(client, written, { ...written })).toBe(written);
  });

  test("guards a replaced list, so that another manager's entry is never lost", async () => {
    const { client, node } = await start();
    await client.patch(node, { spec: { taints: [{ key: "theirs", effect: "NoSchedule" }] } });
    const mine = { ...node, spec: { ...node.spec, taints: [{ key: "mine", effect: "NoSchedule" }] } };
    const error = await writeChanges(client, node, mine).catch((e: unknown) => e);
    expect(isConflict(error)).toBe(true);
    await writeChanges(client, node, { ...node, metadata: { ...node.metadata, labels: { a: "1" } } });
    const live = await client.get(Node, { name: "n" });
    expect(live?.spec?.taints).toMatchObject([{ key: "theirs" }]);
    expect(live?.metadata.labels).toEqual({ a: "1" });
  });
});

describe("finalizers", () => {
  test("are added once, block the deletion, and are removed", async () => {
    const { client, node } = await start();
    const held = await ensureFinalizer(client, node, "x.io/a");
    expect(held.metadata.finalizers).toEqual(["x.io/a"]);
    expect(await ensureFinalizer(client, held, "x.io/a")).toBe(held);
    await client.delete(held);
    const deleting = await client.get(Node, { name: "n" });
    if (deleting === undefined) throw new Error("gone too early");
    expect(await ensureFinalizer(client, deleting, "x.io/b")).toBe(deleting);
    expect(await releaseFinalizer(client, deleting, "x.io/a")).toBeUndefined();
    expect(await client.get(Node, { name: "n" })).toBeUndefined();
    expect(await releaseFinalizer(client, deleting, "x.io/a")).toBeUndefined();
  });

  test("keeps a finalizer that was added in between", async () => {
    const { client, node } = await start();
    await ensureFinalizer(client, node, "x.io/theirs");
    expect(isConflict(await ensureFinalizer(client, node, "x.io/mine").catch((e: unknown) => e))).toBe(true);
  });
});
