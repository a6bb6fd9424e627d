import { findCondition, type Unstructured } from "@capstan/apimachinery";
import {
  boolean,
  Cluster,
  type ContractObject,
  conditionsOf,
  defineKind,
  integer,
  Machine,
  MachineDeployment,
  MachinePool,
  MachineSet,
  object,
  optional,
  string,
  WorkerPool,
} from "@capstan/capi";
import { afterEach, describe, expect, test } from "vitest";
import { NAMESPACE } from "../testing/objects.ts";
import { crashAtEveryWrite, Plane } from "../testing/plane.ts";
import { clusterController } from "./cluster.controller.ts";
import { addClusterIndexes } from "./indexes.ts";
import { isSecondary } from "./secondary-infrastructure.ts";

const infraKind = (kind: string) =>
  defineKind({
    group: "infrastructure.cluster.x-k8s.io",
    version: "v1beta2",
    kind,
    plural: `${kind.toLowerCase()}s`,
    doc: "An infrastructure cluster of tests.",
    contracts: { v1beta2: "v1beta2" },
    schema: object({
      spec: optional(
        object({ controlPlaneEndpoint: optional(object({ host: optional(string()), port: optional(integer()) })) }),
      ),
      status: optional(object({ initialization: optional(object({ provisioned: optional(boolean()) })) })),
    }),
  });
const ByoLike = infraKind("ByoLikeCluster");
const MetalLike = infraKind("MetalLikeCluster");

const planes: Plane[] = [];
afterEach(async () => {
  for (const plane of planes.splice(0)) await plane.close();
});

async function start(crds: Unstructured[] = [ByoLike.crd(), MetalLike.crd()]): Promise<Plane> {
  const plane = await Plane.start({
    crds: [
      ...[Cluster, Machine, MachineSet, MachineDeployment, MachinePool, WorkerPool].map((kind) => kind.crd()),
      ...crds,
    ],
    indexes: addClusterIndexes,
    controllers: ({ workload }) => [clusterController(workload)],
  });
  planes.push(plane);
  return plane;
}

const infra = (kind: { kind: string; apiVersion: string }, name: string, metadata: object = {}): Unstructured => ({
  apiVersion: kind.apiVersion,
  kind: kind.kind,
  metadata: { namespace: NAMESPACE, name, ...metadata },
  spec: { controlPlaneEndpoint: { host: "h", port: 6443 } },
});

const cluster = (name = "c"): Unstructured => ({
  apiVersion: Cluster.apiVersion,
  kind: Cluster.kind,
  metadata: { namespace: NAMESPACE, name },
  spec: { infrastructureRef: { apiGroup: ByoLike.group, kind: ByoLike.kind, name } },
});

const label = (name: string): object => ({ labels: { "cluster.x-k8s.io/cluster-name": name } });
const ownersOf = async (plane: Plane, kind: typeof MetalLike, name: string) =>
  (await plane.user.get(kind, { namespace: NAMESPACE, name }))?.metadata.ownerReferences?.map((owner) => owner.name);

describe("the rule", () => {
  const owner = {
    metadata: { name: "c", uid: "u", namespace: NAMESPACE },
    spec: cluster()["spec"],
  } as unknown as Cluster;
  const ownedBy = (over: object): object => ({
    ownerReferences: [{ apiVersion: "x/v1", kind: "Cluster", name: "o", uid: "other", ...over }],
  });
  const cases: [string, Unstructured, boolean][] = [
    ["same name, no label", infra(MetalLike, "c"), true],
    ["other name, no label", infra(MetalLike, "d"), false],
    ["other name, matching label", infra(MetalLike, "d", label("c")), true],
    ["same name, another's label", infra(MetalLike, "c", label("d")), false],
    ["the primary itself", infra(ByoLike, "c"), false],
    ["one of the primary's kind with the label", infra(ByoLike, "c2", label("c")), true],
    ["has a controller", infra(MetalLike, "c", ownedBy({ kind: "MetaCluster", controller: true })), false],
    ["owned by another Cluster", infra(MetalLike, "c", ownedBy({})), false],
    ["owned by this Cluster", infra(MetalLike, "c", ownedBy({ uid: "u" })), true],
    ["managed elsewhere", infra(MetalLike, "c", { annotations: { "cluster.x-k8s.io/managed-by": "somebody" } }), false],
  ];
  test.each(cases)("%s", (_name, candidate, expected) => {
    expect(isSecondary(owner, candidate as ContractObject)).toBe(expected);
  });
});

describe("secondary infrastructure clusters", () => {
  test("are adopted by name or label, whichever comes first, and shown in the condition", async () => {
    const plane = await start();
    await plane.user.create(infra(MetalLike, "c"));
    await plane.user.create(cluster());
    await plane.user.create(infra(ByoLike, "c"));
    await plane.user.create(infra(MetalLike, "rack2", label("c")));
    await plane.user.create(infra(MetalLike, "stranger"));
    await plane.settle();
    expect(await ownersOf(plane, MetalLike, "c")).toEqual(["c"]);
    expect(await ownersOf(plane, MetalLike, "rack2")).toEqual(["c"]);
    expect(await ownersOf(plane, MetalLike, "stranger")).toBeUndefined();
    const adopted = await plane.user.get(MetalLike, { namespace: NAMESPACE, name: "c" });
    expect(adopted?.metadata.labels).toEqual({ "cluster.x-k8s.io/cluster-name": "c" });
    const ready = async () =>
      findCondition(
        conditionsOf((await plane.user.get(Cluster, { namespace: NAMESPACE, name: "c" })) ?? {}),
        "InfrastructureReady",
      );
    await plane.user.patchStatus(infra(ByoLike, "c"), { status: { initialization: { provisioned: true } } });
    await plane.user.patchStatus(infra(MetalLike, "c"), { status: { initialization: { provisioned: true } } });
    await plane.settle();
    expect(await ready()).toMatchObject({ status: "False", reason: "NotReady" });
    expect((await ready())?.message).toBe("* MetalLikeCluster rack2: MetalLikeCluster rack2 is not provisioned yet");
    // What the Cluster refers to decides on provisioning; a secondary never holds that up.
    const found = await plane.user.get(Cluster, { namespace: NAMESPACE, name: "c" });
    expect(found?.status?.initialization?.infrastructureProvisioned).toBe(true);
    await plane.user.patchStatus(infra(MetalLike, "rack2"), { status: { initialization: { provisioned: true } } });
    await plane.settle();
    expect(await ready()).toMatchObject({ status: "True" });
    const { writes } = plane;
    await plane.clock.advance(600_000);
    expect(plane.writes).toBe(writes);
    expect(plane.failures).toEqual([]);
  });

  test("of a kind installed later are found too", async () => {
    const plane = await start([ByoLike.crd()]);
    await plane.user.create(cluster());
    await plane.user.create(infra(ByoLike, "c"));
    await plane.settle();
    await plane.server.registerCrds([MetalLike.crd()]);
    await plane.user.create(infra(MetalLike, "c"));
    await plane.clock.advance(60_000);
    expect(await ownersOf(plane, MetalLike, "c")).toEqual(["c"]);
  });

  test("rest while the Cluster is paused and go with it", async () => {
    const plane = await start();
    await plane.user.create({ ...cluster(), spec: { ...(cluster()["spec"] as object), paused: true } } as Unstructured);
    await plane.user.create(infra(ByoLike, "c"));
    await plane.user.create(infra(MetalLike, "c", { finalizers: ["test/hold"] }));
    await plane.settle();
    expect(await ownersOf(plane, MetalLike, "c")).toBeUndefined();
    await plane.user.patch(cluster(), { spec: { paused: false } });
    await plane.settle();
    expect(await ownersOf(plane, MetalLike, "c")).toEqual(["c"]);
    await plane.user.delete(cluster());
    await plane.settle();
    const deleting = await plane.user.get(Cluster, { namespace: NAMESPACE, name: "c" });
    expect(findCondition(conditionsOf(deleting ?? {}), "Deleting")).toMatchObject({
      reason: "WaitingForInfrastructureDeletion",
      message: "* MetalLikeCluster: c",
    });
    await plane.user.patch(infra(MetalLike, "c"), { metadata: { finalizers: [] } });
    await plane.clock.advance(1000);
    expect(await plane.user.get(Cluster, { namespace: NAMESPACE, name: "c" })).toBeUndefined();
    expect(await plane.user.get(MetalLike, { namespace: NAMESPACE, name: "c" })).toBeUndefined();
    expect(await plane.user.get(ByoLike, { namespace: NAMESPACE, name: "c" })).toBeUndefined();
  });

  test("end the same when the manager is killed after any write", async () => {
    await crashAtEveryWrite({
      start: () => start(),
      act: async (plane) => {
        await plane.user.create(cluster());
        await plane.user.create(infra(ByoLike, "c"));
        await plane.user.create(infra(MetalLike, "c"));
        await plane.settle();
      },
      wait: (plane) => plane.clock.advance(2000),
      state: async (plane) => ({
        byo: await ownersOf(plane, ByoLike, "c"),
        metal: await ownersOf(plane, MetalLike, "c"),
        conditions: conditionsOf((await plane.user.get(Cluster, { namespace: NAMESPACE, name: "c" })) ?? {}).map(
          ({ type, status, reason }) => `${type}=${status}/${reason}`,
        ),
      }),
      check: (actual, expected, k) => expect(actual, `crashed after write ${k}`).toEqual(expected),
    });
  });

  test("conditions of the older API are there for providers that read them", async () => {
    const plane = await start();
    await plane.user.create(cluster());
    await plane.user.create(infra(ByoLike, "c"));
    await plane.user.patchStatus(infra(ByoLike, "c"), { status: { initialization: { provisioned: true } } });
    await plane.settle();
    const found = await plane.user.get(Cluster, { namespace: NAMESPACE, name: "c" });
    expect(found?.status?.deprecated?.v1beta1).toMatchObject({
      conditions: expect.arrayContaining([expect.objectContaining({ type: "InfrastructureReady", status: "True" })]),
    });
  });
});
