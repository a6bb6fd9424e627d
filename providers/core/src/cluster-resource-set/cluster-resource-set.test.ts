import { readFileSync } from "node:fs";
import { findCondition, formatTime, type Unstructured } from "@capstan/apimachinery";
import { Cluster, ClusterResourceSet, ClusterResourceSetBinding, ConfigMap, conditionsOf } from "@capstan/capi";
import type { Client } from "@capstan/runtime";
import { afterEach, describe, expect, test } from "vitest";
import { NAMESPACE, put, readyCluster } from "../testing/objects.ts";
import { crashAtEveryWrite, Plane } from "../testing/plane.ts";
import { clusterResourceSetBindingController } from "./binding.controller.ts";
import { clusterResourceSetController } from "./cluster-resource-set.controller.ts";
import { addClusterResourceSetIndexes } from "./indexes.ts";

const CNI = readFileSync(new URL("../../../../tests/e2e/cni.yaml", import.meta.url), "utf8");
const DaemonSet = { group: "apps", version: "v1", kind: "DaemonSet", plural: "daemonsets", namespaced: true };

const planes: Plane[] = [];
afterEach(async () => {
  for (const plane of planes.splice(0)) await plane.close();
});

async function start(): Promise<Plane> {
  const plane = await Plane.start({
    crds: [Cluster.crd(), ClusterResourceSet.crd(), ClusterResourceSetBinding.crd()],
    indexes: addClusterResourceSetIndexes,
    controllers: ({ workload, calls }) => [
      clusterResourceSetController(workload, calls),
      clusterResourceSetBindingController(),
    ],
  });
  planes.push(plane);
  return plane;
}

function set(name: string, resources: object[], over: object = {}): Unstructured {
  return {
    apiVersion: ClusterResourceSet.apiVersion,
    kind: ClusterResourceSet.kind,
    metadata: { namespace: NAMESPACE, name },
    spec: { clusterSelector: { matchLabels: { cni: "on" } }, resources, strategy: "ApplyOnce", ...over },
  };
}

function configMap(name: string, data: Record<string, string>): Unstructured {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { namespace: NAMESPACE, name }, data };
}

const payload = (value: string): string =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: inside, namespace: default}\ndata: {value: "${value}"}\n`;

async function cluster(plane: Plane, name = "c"): Promise<Client> {
  await put(plane.user, readyCluster(name, formatTime(plane.clock.now()), { cni: "on" }));
  return await plane.addWorkload(NAMESPACE, name);
}

const inside = (workload: Client) => workload.get(ConfigMap, { namespace: "default", name: "inside" });

async function applied(plane: Plane, name = "crs") {
  const found = await plane.user.get(ClusterResourceSet, { namespace: NAMESPACE, name });
  return findCondition(conditionsOf(found ?? {}), "ResourcesApplied");
}

const binding = async (plane: Plane, name = "c") =>
  await plane.user.get(ClusterResourceSetBinding, { namespace: NAMESPACE, name });

describe("a ClusterResourceSet", () => {
  test("brings a pod network into every matching Cluster once its control plane is initialized", async () => {
    const plane = await start();
    await plane.user.create(configMap("cni", { "cni.yaml": CNI }));
    await plane.user.create(set("crs", [{ kind: "ConfigMap", name: "cni" }]));
    const ready = readyCluster("c", formatTime(plane.clock.now()), { cni: "on" });
    const { status, ...bare } = ready;
    await plane.user.create(bare as Unstructured);
    const workload = await plane.addWorkload(NAMESPACE, "c");
    expect(await applied(plane)).toMatchObject({ status: "False", reason: "NotApplied" });
    expect(await workload.get(DaemonSet, { namespace: "kube-system", name: "e2e-cni" })).toBeUndefined();
    await plane.user.patchStatus(ready, { status });
    await plane.settle();
    expect(await workload.get(DaemonSet, { namespace: "kube-system", name: "e2e-cni" })).toBeDefined();
    expect(await applied(plane)).toMatchObject({ status: "True", reason: "Applied" });
    expect((await binding(plane))?.spec).toMatchObject({
      clusterName: "c",
      bindings: [{ clusterResourceSetName: "crs", resources: [{ kind: "ConfigMap", name: "cni", applied: true }] }],
    });
    const owned = await plane.user.get(ConfigMap, { namespace: NAMESPACE, name: "cni" });
    expect(owned?.metadata.ownerReferences).toMatchObject([{ kind: "ClusterResourceSet", name: "crs" }]);
    const { writes } = plane;
    await plane.clock.advance(600_000);
    expect(plane.writes).toBe(writes);
    expect(plane.failures).toEqual([]);
  });

  test("ApplyOnce never touches what exists, nor applies again", async () => {
    const plane = await start();
    const workload = await cluster(plane);
    await workload.create({ ...configMap("inside", { value: "theirs" }) } as Unstructured);
    await plane.user.create(configMap("p", { a: payload("1") }));
    await plane.user.create(set("crs", [{ kind: "ConfigMap", name: "p" }]));
    await plane.settle();
    expect((await inside(workload))?.data).toEqual({ value: "theirs" });
    await plane.user.patch(configMap("p", {}), { data: { a: payload("2") } });
    await workload.delete(configMap("inside", {}));
    await plane.settle();
    expect(await inside(workload)).toBeUndefined();
    expect(await applied(plane)).toMatchObject({ status: "True" });
  });

  test("Reconcile applies again when the content changes and leaves fields of others alone", async () => {
    const plane = await start();
    const workload = await cluster(plane);
    await plane.user.create(configMap("p", { a: payload("1") }));
    await plane.user.create(set("crs", [{ kind: "ConfigMap", name: "p" }], { strategy: "Reconcile" }));
    await plane.settle();
    await workload.patch(configMap("inside", {}), { data: { other: "kept" } });
    await plane.user.patch(configMap("p", {}), { data: { a: payload("2") } });
    await plane.settle();
    expect((await inside(workload))?.data).toEqual({ value: "2", other: "kept" });
  });

  test("Secrets need their type; a payload that is missing is applied when it appears", async () => {
    const plane = await start();
    const workload = await cluster(plane);
    const secret = (type: string): Unstructured => ({
      apiVersion: "v1",
      kind: "Secret",
      type,
      metadata: { namespace: NAMESPACE, name: "s" },
      data: { a: Buffer.from(payload("secret")).toString("base64") },
    });
    await plane.user.create(set("crs", [{ kind: "Secret", name: "s" }]));
    await plane.settle();
    expect(await applied(plane)).toMatchObject({ message: "* Secret s does not exist; create it" });
    await plane.user.create(secret("Opaque"));
    await plane.user.patch(set("crs", []), { metadata: { annotations: { touched: "1" } } });
    await plane.settle();
    expect(await applied(plane)).toMatchObject({ status: "False", reason: "WrongSecretType" });
    expect(await inside(workload)).toBeUndefined();
    await plane.user.delete(secret(""));
    await plane.user.create(secret("addons.cluster.x-k8s.io/resource-set"));
    await plane.settle();
    expect((await inside(workload))?.data).toEqual({ value: "secret" });
    expect(await applied(plane)).toMatchObject({ status: "True" });
  });

  test("what cannot be applied is named, tried again more and more rarely, and harms nothing else", async () => {
    const plane = await start();
    const workload = await cluster(plane);
    const custom = "apiVersion: example.test/v1\nkind: Thing\nmetadata: {name: t, namespace: default}\n";
    await plane.user.create(configMap("p", { a: custom, b: payload("1") }));
    await plane.user.create(configMap("bad", { a: "a: [" }));
    await plane.user.create(
      set("crs", [
        { kind: "ConfigMap", name: "p" },
        { kind: "ConfigMap", name: "bad" },
      ]),
    );
    await plane.settle();
    expect((await inside(workload))?.data).toEqual({ value: "1" });
    const condition = await applied(plane);
    expect(condition).toMatchObject({ status: "False", reason: "NotApplied" });
    expect(condition?.message).toMatch(/^\* Cluster c: ConfigMap p: Thing default\/t: no matches for kind "Thing"/);
    expect(condition?.message).toContain("ConfigMap bad: key a: ");
    const { writes } = plane;
    await plane.clock.advance(60_000);
    expect(plane.writes - writes).toBeLessThanOrEqual(30);
    expect(plane.failures).toEqual([]);
    // The kind appears, the other payload is corrected.
    await workload.create({
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name: "things.example.test" },
      spec: {
        group: "example.test",
        scope: "Namespaced",
        names: { kind: "Thing", plural: "things", singular: "thing", listKind: "ThingList" },
        versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } }],
      },
    } as Unstructured);
    await plane.user.patch(configMap("bad", {}), { data: { a: payload("1") } });
    await plane.clock.advance(120_000);
    expect(await applied(plane)).toMatchObject({ status: "True" });
  });

  test("deleting it forgets what it applied and leaves the objects", async () => {
    const plane = await start();
    const workload = await cluster(plane);
    await plane.user.create(configMap("p", { a: payload("1") }));
    for (const name of ["crs", "other"]) await plane.user.create(set(name, [{ kind: "ConfigMap", name: "p" }]));
    await plane.settle(200);
    expect((await binding(plane))?.spec.bindings?.map((entry) => entry.clusterResourceSetName)).toEqual([
      "crs",
      "other",
    ]);
    await plane.user.delete(set("crs", []));
    await plane.settle(200);
    expect((await binding(plane))?.spec.bindings?.map((entry) => entry.clusterResourceSetName)).toEqual(["other"]);
    expect((await binding(plane))?.metadata.ownerReferences?.map(({ name }) => name)).toEqual(["other"]);
    await plane.user.delete(set("other", []));
    await plane.settle(200);
    expect(await binding(plane)).toBeUndefined();
    expect(await inside(workload)).toBeDefined();
    expect(await plane.user.get(ClusterResourceSet, { namespace: NAMESPACE, name: "other" })).toBeUndefined();
  });

  test("forgets a deleted Cluster: another one of that name gets everything from scratch", async () => {
    const plane = await start();
    const workload = await cluster(plane);
    await plane.user.create(configMap("p", { a: payload("1") }));
    await plane.user.create(set("crs", [{ kind: "ConfigMap", name: "p" }]));
    await plane.settle();
    expect(await binding(plane)).toBeDefined();
    const ready = readyCluster("c", formatTime(plane.clock.now()), { cni: "on" });
    await plane.user.delete(ready);
    await plane.settle();
    expect(await binding(plane)).toBeUndefined();
    // The other one, empty.
    await workload.delete({ ...configMap("inside", {}), metadata: { namespace: "default", name: "inside" } });
    await put(plane.user, ready);
    await plane.settle();
    expect((await inside(workload))?.data).toEqual({ value: "1" });
    expect(plane.failures).toEqual([]);
  });

  test("an empty selector selects nothing; Clusters without the label are left alone", async () => {
    const plane = await start();
    const workload = await cluster(plane);
    await plane.user.create(configMap("p", { a: payload("1") }));
    await plane.user.create(
      set("crs", [{ kind: "ConfigMap", name: "p" }], { clusterSelector: { matchLabels: { cni: "off" } } }),
    );
    await plane.settle();
    expect(await inside(workload)).toBeUndefined();
    expect(await applied(plane)).toMatchObject({ status: "True" });
    await plane.user.patch(readyCluster("c", ""), { metadata: { labels: { cni: "off" } } });
    await plane.settle();
    expect(await inside(workload)).toBeDefined();
  });

  test("a bad selector is named and holds up no other set", async () => {
    const plane = await start();
    await plane.user.create(configMap("p", { a: payload("1") }));
    await plane.user.create(
      set("bad", [{ kind: "ConfigMap", name: "p" }], { clusterSelector: { matchLabels: { cni: "b c" } } }),
    );
    await plane.user.create(set("crs", [{ kind: "ConfigMap", name: "p" }]));
    const workload = await cluster(plane);
    await plane.settle();
    expect(await inside(workload)).toBeDefined();
    expect(await applied(plane, "bad")).toMatchObject({
      status: "False",
      reason: "InvalidSelector",
      message: expect.stringContaining("spec.clusterSelector is not a valid selector"),
    });
    expect(plane.failures).toEqual([]);
  });

  test("ends the same when killed after any write", async () => {
    const writes = await crashAtEveryWrite({
      start,
      act: async (plane) => {
        await cluster(plane);
        await plane.user.create(configMap("p", { a: payload("1"), cni: CNI }));
        await plane.user.create(set("crs", [{ kind: "ConfigMap", name: "p" }]));
        await plane.settle();
      },
      wait: (plane) => plane.clock.advance(5000),
      state: async (plane) => ({
        condition: (await applied(plane))?.status,
        resources: (await binding(plane))?.spec.bindings?.[0]?.resources?.map(({ hash, applied }) => ({
          hash,
          applied,
        })),
      }),
      check: (actual, expected, k) => expect(actual, `crashed after write ${k}`).toEqual(expected),
    });
    expect(writes).toBeGreaterThan(5);
  });
});
