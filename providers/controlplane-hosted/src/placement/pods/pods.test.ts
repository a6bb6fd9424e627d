import { seededRandom, type Unstructured, VirtualClock } from "@capstan/apimachinery";
import { Client, openDialGate, silentLogger } from "@capstan/runtime";
import {
  Deployment,
  HOSTED_LABEL,
  HostClusters,
  HostSecret,
  type PodController,
  Service,
  StatefulSet,
} from "@capstan/workloads";
import { afterEach, beforeEach, expect, test } from "vitest";
import { makePlan, placementCases } from "../../contract-suite/placement-cases.ts";
import type { HostedControlPlaneSpec } from "../../kinds/hosted-control-plane.ts";
import { PodsWorld } from "../../testing/pods-world.ts";
import type { ControlPlanePlan, PlacementState } from "../placement.ts";
import { podNames } from "./names.ts";
import { PodsPlacement } from "./pods.ts";

for (const { name, run } of placementCases(() => PodsWorld.open())) test(`Pods: ${name}`, run);

const owner = "default/c1";
let world: PodsWorld;
let plan: ControlPlanePlan;

beforeEach(async () => {
  world = await PodsWorld.open();
  plan = await makePlan(world, owner);
});

afterEach(() => world.close());

/** Reconciles repeatedly while the world advances. */
async function settled(turns = 12): Promise<PlacementState> {
  let state = await world.placement.ensure(plan);
  for (let turn = 0; turn < turns; turn++) {
    await world.progress();
    state = await world.placement.ensure(plan);
  }
  return state;
}

const withSpec = (spec: Partial<HostedControlPlaneSpec>): ControlPlanePlan => ({
  ...plan,
  spec: { ...plan.spec, ...spec },
  version: spec.version ?? plan.version,
});
const deployment = async (name: string): Promise<PodController & Unstructured> => {
  const found = await world.client.get(Deployment, { namespace: "default", name: `c1-${name}` });
  if (found === undefined) throw new Error(`no Deployment c1-${name}`);
  return found as PodController & Unstructured;
};
const imageIn = (controller: unknown): string =>
  (controller as { spec: { template: { spec: { containers: { image: string }[] } } } }).spec.template.spec.containers[0]
    ?.image ?? "";
const etcd = () => world.client.get(StatefulSet, { namespace: "default", name: "c1-etcd-0" });

/** Kinds and names of all objects, which must be the same however often a manager was killed. */
const shape = async (of: PodsWorld): Promise<string[]> =>
  (await of.things(owner)).map((thing) => thing.split(" ").slice(0, 2).join(" "));

test("killed after any write, the next manager reaches the same state", { timeout: 60_000 }, async () => {
  const calm = world.dying(Infinity);
  await drive(world, calm.placement);
  const expected = await shape(world);
  expect(calm.transport.writes).toBeGreaterThan(15);
  for (let writes = 1; writes <= calm.transport.writes; writes += 2) {
    const other = await PodsWorld.open();
    const { placement, transport } = other.dying(writes);
    await drive(other, placement, () => transport.dead);
    await drive(other, await other.again());
    expect(await shape(other), `killed after ${writes} writes`).toEqual(expected);
    await other.close();
  }
});

/** Reserves and ensures as the controller does, until all is ready or the manager is dead. */
async function drive(of: PodsWorld, placement: PodsPlacement, dead = () => false): Promise<void> {
  const request = { owner, spec: plan.spec, endpoint: undefined };
  for (let turn = 0; turn < 30; turn++) {
    try {
      const reserved = await placement.reserve(request);
      if (reserved.type === "reserved") {
        const state = await placement.ensure({ ...plan, endpoint: reserved.endpoint });
        if (state.components.filter(({ ready }) => ready).length === 4) return;
      }
    } catch (error) {
      if (!dead()) throw error;
      return;
    }
    await of.progress();
  }
  throw new Error("not ready after 30 turns");
}

test("starts components in order: etcd, then kube-apiserver, then the others", async () => {
  world.runner.statuses.set("etcd", { phase: "Pending" });
  let state = await settled(3);
  expect(state.components.map(({ name }) => name)).toEqual(["etcd"]);
  world.runner.statuses.delete("etcd");
  world.runner.statuses.set("kube-apiserver", { phase: "Pending" });
  state = await settled(3);
  expect(state.components.map(({ name, ready }) => `${name} ${ready}`)).toEqual(["etcd true", "kube-apiserver false"]);
  expect(state.apiReady).toBe(false);
  world.runner.statuses.delete("kube-apiserver");
  state = await settled(4);
  expect(state.components.filter(({ ready }) => ready)).toHaveLength(4);
});

test("reports the last error of a pod", async () => {
  world.runner.statuses.set("kube-apiserver", {
    phase: "Running",
    conditions: [{ type: "Ready", status: "False" }],
    containerStatuses: [
      {
        name: "kube-apiserver",
        ready: false,
        restartCount: 3,
        state: { waiting: { reason: "CrashLoopBackOff" } },
        lastState: { terminated: { exitCode: 1, message: "Error: unknown flag: --nonsense\n" } },
      },
    ],
  });
  const { components } = await settled(5);
  expect(components.find(({ name }) => name === "kube-apiserver")).toMatchObject({
    ready: false,
    restarts: 3,
    message: expect.stringMatching(/pod c1-kube-apiserver-\S+ kube-apiserver: CrashLoopBackOff: Error: unknown flag/),
  });
});

test("upgrades etcd, kube-apiserver, then the others, and keeps the old one serving until the new one is ready", async () => {
  await settled();
  plan = withSpec({ version: "v1.35.4" });
  world.runner.statuses.set("kube-apiserver", { phase: "Pending", conditions: [{ type: "Ready", status: "False" }] });
  // The old pod stays as it is: only new ones get the status above.
  const [old] = (await world.client.list({ ...POD }, { labelSelector: `${HOSTED_LABEL}=c1` })).items.filter((pod) =>
    pod.metadata.name?.startsWith("c1-kube-apiserver"),
  );
  world.runner.keep.add(old?.metadata.name ?? "");
  let state = await settled();
  expect(state).toMatchObject({ apiReady: true, version: "v1.34.4", upgrade: { reason: "Upgrading" } });
  expect(imageIn(await etcd())).toBe("registry.k8s.io/etcd:3.6.6-0");
  expect(imageIn(await deployment("kube-apiserver"))).toBe("registry.k8s.io/kube-apiserver:v1.35.4");
  expect(imageIn(await deployment("kube-scheduler"))).toBe("registry.k8s.io/kube-scheduler:v1.34.4");
  world.runner.keep.clear();
  world.runner.statuses.clear();
  state = await settled();
  expect(state).toMatchObject({ apiReady: true, version: "v1.35.4" });
  expect(state.upgrade).toBeUndefined();
  expect(imageIn(await deployment("kube-scheduler"))).toBe("registry.k8s.io/kube-scheduler:v1.35.4");
  // After a rollback of kube-apiserver the newer etcd stays, because it has used the data.
  plan = withSpec({ version: "v1.34.4" });
  await settled();
  expect(imageIn(await etcd())).toBe("registry.k8s.io/etcd:3.6.6-0");
});

test("a renewed certificate reaches the pods through their Secret; a changed service account key replaces them", async () => {
  await settled();
  const secret = () => world.client.get(HostSecret, { namespace: "default", name: "c1-hcp-kube-apiserver" });
  const before = { template: await template(), data: (await secret())?.data };
  const later = await world.again(new VirtualClock(world.clock.now() + 300 * 24 * 3600_000));
  await later.ensure(plan);
  expect((await secret())?.data?.["apiserver.crt"]).not.toBe(before.data?.["apiserver.crt"]);
  expect(await template()).toBe(before.template);
  const { serviceAccount } = (await makePlan(world, owner)).authorities;
  plan = { ...plan, authorities: { ...plan.authorities, serviceAccount } };
  await settled(4);
  expect(await template()).not.toBe(before.template);
  async function template(): Promise<string> {
    return JSON.stringify((await deployment("kube-apiserver"))["spec"]);
  }
});

test("rejects a change of etcd's volumes", async () => {
  await settled();
  plan = withSpec({ etcd: { storage: { size: "20Gi" } } });
  expect((await settled(3)).upgrade).toMatchObject({ reason: "StorageFixed" });
});

test("stops etcd last, because a kube-apiserver without it takes long to exit", async () => {
  await settled();
  const pods = (await world.client.list(POD, { labelSelector: HOSTED_LABEL })).items;
  const pod = pods.find(({ metadata }) => metadata.name?.startsWith("c1-kube-apiserver")) ?? expect.fail("no pod");
  await world.client.patch(pod, { metadata: { finalizers: ["example.org/slow"] } });
  const placed = { spec: plan.spec, deletingSinceMs: world.clock.now() };
  expect(await world.placement.remove(owner, placed)).toContainEqual(expect.stringMatching(/^Pod c1-kube-apiserver/));
  expect(await etcd()).toBeDefined();
  await world.client.patch(pod, { metadata: { finalizers: [] } });
  for (let turn = 0; turn < 5; turn++) {
    await world.progress();
    await world.placement.remove(owner, placed);
  }
  expect(await world.things(owner)).toEqual([]);
});

test("does not hibernate a control plane with data in an EmptyDir", async () => {
  plan = withSpec({ etcd: { storage: { type: "EmptyDir" } } });
  await settled();
  const state = await world.placement.hibernate(owner, { spec: plan.spec });
  expect(state.problem).toMatchObject({ reason: "DataWouldBeLost" });
  expect((await etcd())?.spec?.replicas).toBe(1);
});

test("data in an EmptyDir survives an upgrade, which leaves etcd's pods alone", async () => {
  plan = withSpec({ etcd: { storage: { type: "EmptyDir" } } });
  await settled();
  const members = async () => (await world.things(owner)).filter((thing) => thing.startsWith("Pod c1-etcd"));
  const before = await members();
  plan = withSpec({ version: "v1.35.4", etcd: { storage: { type: "EmptyDir" } } });
  expect(await settled(20)).toMatchObject({ apiReady: true, version: "v1.35.4" });
  expect(await members()).toEqual(before);
  expect(await etcd()).toMatchObject({ spec: { updateStrategy: { type: "OnDelete" } } });
});

test("rejects data of another control plane; recognizes the same one by its CA after a move", async () => {
  await settled();
  const moved = { ...plan, objectUid: "another" };
  expect((await world.placement.ensure(moved)).problem).toBeUndefined();
  const foreign = { ...(await makePlan(world, owner)), objectUid: "a-third" };
  expect((await world.placement.ensure(foreign)).problem).toMatchObject({ reason: "LeftoverData" });
});

test("keeps an object of another owner with the same name", async () => {
  await world.client.create({
    apiVersion: "v1",
    kind: "Service",
    metadata: { namespace: "default", name: "c1-etcd" },
    spec: { ports: [{ port: 80 }] },
  } as Unstructured);
  expect((await world.placement.ensure(plan)).problem).toMatchObject({
    reason: "NameTaken",
    message: expect.stringContaining("Service default/c1-etcd exists and belongs to another owner"),
  });
  expect((await world.client.get(Service, { namespace: "default", name: "c1-etcd" }))?.spec?.ports).toHaveLength(1);
});

test("reports exposure problems: no load balancer, no node", async () => {
  const reserve = (spec: Partial<HostedControlPlaneSpec>) =>
    world.placement.reserve({ owner: "default/other", spec: { ...plan.spec, ...spec }, endpoint: undefined });
  expect(await reserve({})).toMatchObject({
    type: "wait",
    reason: "WaitingForLoadBalancer",
    message: expect.stringContaining("spec.expose.type to NodePort"),
  });
  expect(await reserve({ expose: { type: "NodePort" } })).toMatchObject({ type: "wait" });
});

test("reports a host cluster that runs no pods or is unknown; deletion does not wait long for it", async () => {
  const clock = new VirtualClock();
  const management = new Client(world.server.admin(), { fieldManager: "capstan", clock });
  const deps = { clock, random: seededRandom(1), log: silentLogger };
  const hosts = new HostClusters({ gate: openDialGate(), management: undefined, fieldManager: "capstan", ...deps });
  const placement = new PodsPlacement({ hosts, management, ...deps });
  const reserve = (spec: Partial<HostedControlPlaneSpec>) =>
    placement.reserve({ owner, spec: { ...plan.spec, ...spec }, endpoint: undefined });
  expect(await reserve({})).toMatchObject({
    type: "failed",
    reason: "NothingRunsPods",
    message: expect.stringContaining("spec.hostCluster.secretName"),
  });
  expect(await placement.remove(owner, { spec: plan.spec })).toEqual([]);
  const elsewhere = { hostCluster: { secretName: "host-kubeconfig" } };
  expect(await reserve(elsewhere)).toMatchObject({ type: "failed", reason: "HostClusterNotKnown" });
  const placed = { spec: { ...plan.spec, ...elsewhere }, deletingSinceMs: clock.now() };
  expect(await placement.remove(owner, placed)).toEqual([expect.stringContaining("the host cluster (")]);
  await clock.advance(3 * 60_000);
  expect(await placement.remove(owner, placed)).toEqual([]);
  await hosts.stop();
});

test.each([
  ["c1", "c1"],
  ["a-name-that-is-much-too-long-for-a-service", /^c-[a-z0-9-]{19}-[0-9a-f]{8}$/],
  ["1st.cluster", /^c-1st-cluster-[0-9a-f]{8}$/],
])("names of %s", (name, stem) => {
  if (typeof stem === "string") expect(podNames(`default/${name}`).stem).toBe(stem);
  else expect(podNames(`default/${name}`).stem).toMatch(stem);
});

const POD = { group: "", version: "v1", kind: "Pod", plural: "pods", namespaced: true };
