import type { Unstructured } from "@capstan/apimachinery";
import {
  boolean,
  Cluster,
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
import { addCoreIndexes, clusterController } from "@capstan/core";
import { afterEach, expect, test } from "vitest";
import { crashAtEveryWrite, Plane } from "../../core/src/testing/plane.ts";
import { MetaCluster } from "./kinds/meta-cluster.ts";
import { addMetaIndexes, metaControllers } from "./running.ts";

/** A kind with an endpoint that is seen only through the contract. */
function contractKind(group: string, kind: string) {
  return defineKind({
    group,
    version: "v1beta2",
    kind,
    plural: `${kind.toLowerCase()}s`,
    doc: "Of tests.",
    contracts: { v1beta2: "v1beta2" },
    schema: object({
      spec: optional(
        object({ controlPlaneEndpoint: optional(object({ host: optional(string()), port: optional(integer()) })) }),
      ),
      status: optional(
        object({
          initialization: optional(
            object({ provisioned: optional(boolean()), controlPlaneInitialized: optional(boolean()) }),
          ),
        }),
      ),
    }),
  });
}
const INFRA = "infrastructure.cluster.x-k8s.io";
const Alpha = contractKind(INFRA, "AlphaCluster");
const Beta = contractKind(INFRA, "BetaCluster");
const Plan = contractKind("controlplane.cluster.x-k8s.io", "PlanControlPlane");
const ENDPOINT = { host: "10.0.0.1", port: 6443 };

const planes: Plane[] = [];
afterEach(async () => {
  for (const plane of planes.splice(0)) await plane.close();
});

async function start(): Promise<Plane> {
  const kinds = [
    Cluster,
    Machine,
    MachineSet,
    MachineDeployment,
    MachinePool,
    WorkerPool,
    MetaCluster,
    Alpha,
    Beta,
    Plan,
  ];
  const plane = await Plane.start({
    crds: kinds.map((kind) => kind.crd()),
    indexes: (cache) => {
      addCoreIndexes(cache);
      addMetaIndexes(cache);
    },
    controllers: ({ workload }) => [clusterController(workload), ...metaControllers()],
  });
  planes.push(plane);
  return plane;
}

const named = (kind: { apiVersion: string; kind: string }, spec: object, name = "c1"): Unstructured => ({
  apiVersion: kind.apiVersion,
  kind: kind.kind,
  metadata: { name, namespace: "default" },
  spec,
});
const ref = (kind: string, name = "c1") => ({ apiGroup: INFRA, kind, name });
const meta = (name = "c1", refs = [ref("AlphaCluster", name), ref("BetaCluster", name)]): Unstructured =>
  named(MetaCluster, { infrastructureRefs: refs }, name);
const key = (name = "c1") => ({ namespace: "default", name });

/** A cluster whose control plane brings the endpoint, as a hosted one does. */
const objects = (name = "c1"): Unstructured[] => [
  named(
    Cluster,
    {
      infrastructureRef: ref("MetaCluster", name),
      controlPlaneRef: { apiGroup: Plan.group, kind: Plan.kind, name },
    },
    name,
  ),
  meta(name),
  named(Alpha, {}, name),
  named(Beta, {}, name),
  named(Plan, { controlPlaneEndpoint: ENDPOINT }, name),
];

async function pass(plane: Plane): Promise<void> {
  for (let i = 0; i < 5; i++) await plane.settle(100);
}

async function provision(plane: Plane, name = "c1"): Promise<void> {
  for (const kind of [Alpha, Beta])
    await plane.user.patchStatus({ kind, ...key(name) }, { status: { initialization: { provisioned: true } } });
}

/** What must be the same whatever happened on the way. */
async function picture(plane: Plane, name = "c1"): Promise<object> {
  const found = await plane.user.get(MetaCluster, key(name));
  const cluster = await plane.user.get(Cluster, key(name));
  const children = await Promise.all([Alpha, Beta].map((kind) => plane.user.get(kind, key(name))));
  return {
    endpoint: cluster?.spec?.controlPlaneEndpoint,
    provisioned: cluster?.status?.initialization?.infrastructureProvisioned,
    meta: found?.spec.controlPlaneEndpoint,
    conditions: conditionsOf(found ?? {}).map(({ type, status, reason }) => `${type}=${status}/${reason}`),
    children: children.map((child) => ({
      spec: child?.spec,
      labels: child?.metadata.labels,
      owners: child?.metadata.ownerReferences?.map(({ kind, controller }) => `${kind} ${controller ?? false}`).sort(),
    })),
  };
}

const CHILD = {
  spec: { controlPlaneEndpoint: ENDPOINT },
  labels: { "cluster.x-k8s.io/cluster-name": "c1" },
  owners: ["Cluster false", "MetaCluster true"],
};

function* permutations<T>(items: readonly T[]): Generator<T[]> {
  if (items.length === 0) yield [];
  for (const [i, item] of items.entries())
    for (const rest of permutations([...items.slice(0, i), ...items.slice(i + 1)])) yield [item, ...rest];
}

test("in every order of creation it ends the same, with no deadlock between endpoint and control plane", async () => {
  const plane = await start();
  // Cluster, MetaCluster, children, control plane.
  const orders = [...permutations([[0], [1], [2, 3], [4]])];
  expect(orders).toHaveLength(24);
  // All clusters at once, each in its own order, with time to act between the objects.
  for (let step = 0; step < 4; step++) {
    for (const [i, order] of orders.entries()) {
      const all = objects(`c${i}`);
      for (const at of order[step] ?? []) if (all[at] !== undefined) await plane.user.create(all[at]);
    }
    await plane.settle(50);
  }
  for (const i of orders.keys()) await provision(plane, `c${i}`);
  await pass(plane);
  for (const [i, order] of orders.entries()) {
    const name = `c${i}`;
    const child = { ...CHILD, labels: { "cluster.x-k8s.io/cluster-name": name } };
    expect(
      await picture(plane, name),
      order
        .flat()
        .map((at) => objects()[at]?.kind)
        .join(),
    ).toMatchObject({
      endpoint: ENDPOINT,
      provisioned: true,
      meta: ENDPOINT,
      conditions: expect.arrayContaining(["Ready=True/Ready"]),
      children: [child, child],
    });
  }
});

test("killed after any write, it ends the same", { timeout: 60_000 }, async () => {
  const writes = await crashAtEveryWrite({
    start,
    act: async (plane) => {
      for (const each of objects()) await plane.user.create(each);
      await provision(plane);
      await pass(plane);
    },
    wait: (plane) => plane.clock.advance(3_000),
    state: (plane) => picture(plane),
    check: (actual, expected, after) => expect(actual, `killed after write ${after}`).toEqual(expected),
  });
  expect(writes).toBeGreaterThanOrEqual(6);
});

test("killed after any write of a deletion, nothing is left", { timeout: 60_000 }, async () => {
  await crashAtEveryWrite({
    start: async () => {
      const plane = await start();
      for (const each of objects()) await plane.user.create(each);
      await pass(plane);
      return plane;
    },
    act: async (plane) => {
      await plane.user.delete({ kind: Cluster, ...key() });
      await pass(plane);
    },
    wait: (plane) => plane.clock.advance(3_000),
    state: async (plane) => ({
      left: (
        await Promise.all(
          [Cluster, MetaCluster, Alpha, Beta, Plan].map((kind) => plane.user.get(kind as typeof Alpha, key())),
        )
      ).flatMap((each) => each?.kind ?? []),
    }),
    check: (actual, expected, after) => {
      expect(expected.left).toEqual([]);
      expect(actual, `killed after write ${after}`).toEqual(expected);
    },
  });
});

test("what belongs to another MetaCluster or Cluster is named, left alone, and not deleted", async () => {
  const plane = await start();
  for (const each of objects()) await plane.user.create(each);
  await pass(plane);
  const greedy = named(
    Cluster,
    { infrastructureRef: ref("MetaCluster", "c2"), controlPlaneEndpoint: { host: "10.0.0.2", port: 1 } },
    "c2",
  );
  await plane.user.create(greedy);
  await plane.user.create(meta("c2", [ref("AlphaCluster")]));
  await pass(plane);
  const other = await plane.user.get(MetaCluster, key("c2"));
  expect(other?.status?.infrastructures).toEqual([
    {
      kind: "AlphaCluster",
      name: "c1",
      provisioned: false,
      reason: "OwnedByAnother",
      message: "AlphaCluster c1 belongs to MetaCluster c1 and is not adopted: refer to another one, or remove it there",
    },
  ]);
  expect(await picture(plane)).toMatchObject({ children: [CHILD, CHILD] });
  await plane.user.delete({ kind: Cluster, ...key("c2") });
  await pass(plane);
  expect(await plane.user.get(MetaCluster, key("c2"))).toBeUndefined();
  expect((await plane.user.get(Alpha, key()))?.metadata.deletionTimestamp).toBeUndefined();
});
