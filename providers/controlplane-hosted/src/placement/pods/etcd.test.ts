import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Unstructured } from "@capstan/apimachinery";
import { HostSecret, PersistentVolumeClaim, Pod, type PodStatus, StatefulSet } from "@capstan/workloads";
import { afterEach, beforeEach, expect, test } from "vitest";
import { makePlan } from "../../contract-suite/placement-cases.ts";
import type { HostedControlPlaneSpec } from "../../kinds/hosted-control-plane.ts";
import { PodsWorld } from "../../testing/pods-world.ts";
import type { ControlPlanePlan, PlacementState } from "../placement.ts";
import type { PodsPlacement } from "./pods.ts";
import { RECORD_ANNOTATION } from "./record.ts";

const owner = "default/c1";
const MIB = 1024 ** 2;
let world: PodsWorld;
let plan: ControlPlanePlan;
let scratch: string;

beforeEach(async () => {
  scratch = await mkdtemp(join(tmpdir(), "capstan-pods-etcd-"));
  world = await PodsWorld.open();
  plan = await makePlan(world, owner);
});

afterEach(async () => {
  await world.close();
  await rm(scratch, { recursive: true, force: true });
});

const withEtcd = (etcd: NonNullable<HostedControlPlaneSpec["etcd"]>): void => {
  plan = { ...plan, spec: { ...plan.spec, etcd } };
};

/** Reconciles repeatedly while the world advances. */
async function settled(turns = 12, placement: PodsPlacement = world.placement): Promise<PlacementState> {
  let state = await placement.ensure(plan);
  for (let turn = 0; turn < turns; turn++) {
    await world.progress();
    state = await placement.ensure(plan);
  }
  return state;
}

const peer = (index: number): string => `https://c1-etcd-${index}-0.c1-etcd.default.svc:2380`;

/** etcd as it lists itself once members run. */
function listed(...indexes: number[]): void {
  world.etcd.listed = indexes.map((index) => ({
    id: String(index + 1),
    name: `c1-etcd-${index}`,
    peerUrls: [peer(index)],
    clientUrls: [],
    isLearner: false,
  }));
  world.etcd.leader = "1";
}

/** How a member starts with an empty volume. */
async function beginning(index: number): Promise<string> {
  const data = (await world.client.get(HostSecret, { namespace: "default", name: "c1-hcp-etcd" }))?.data ?? {};
  const read = (key: string): string => Buffer.from(data[`${key}-${index}`] ?? "", "base64").toString();
  return `${read("initial-cluster-state")} ${read("initial-cluster").replaceAll(/=\S*?2380/g, "")}`;
}

/** A container that crashes repeatedly with this message. */
const crashing = (message: string, restartCount = 3): PodStatus => ({
  phase: "Running",
  conditions: [{ type: "Ready", status: "False" }],
  containerStatuses: [
    {
      name: "etcd",
      ready: false,
      restartCount,
      state: { waiting: { reason: "CrashLoopBackOff" } },
      lastState: { terminated: { exitCode: 1, message } },
    },
  ],
});
/** The same container, started again. */
const runningAgain = ({ containerStatuses = [], ...status }: PodStatus): PodStatus => ({
  ...status,
  containerStatuses: containerStatuses.map((container) => ({ ...container, state: { running: {} } })),
});
const EMPTY = crashing(
  '{"level":"fatal","msg":"discovery failed","error":"cannot fetch cluster info from peer urls: could not retrieve cluster information from the given URLs"}',
);

const uidOf = async (name: string): Promise<string | undefined> =>
  (await world.client.get(PersistentVolumeClaim, { namespace: "default", name }))?.metadata.uid;

test("configures a member that held data to join only itself, so that it neither votes nor starts empty if its volume is empty", async () => {
  withEtcd({ replicas: 3 });
  world.runner.statuses.set("etcd", { phase: "Pending" });
  await settled(2);
  expect(await beginning(1)).toBe("new c1-etcd-0,c1-etcd-1,c1-etcd-2");
  world.runner.statuses.delete("etcd");
  await settled(4);
  expect(await beginning(1)).toBe("existing c1-etcd-1");
  const env = (await world.client.get(StatefulSet, { namespace: "default", name: "c1-etcd-1" })) as unknown;
  expect(JSON.stringify(env)).toContain('"secretKeyRef":{"name":"c1-hcp-etcd","key":"initial-cluster-1"}');
  expect(JSON.stringify(env)).not.toContain("--initial-cluster=");
});

test("stops, removes and adds a member whose volume is empty again, and keeps the volume", async () => {
  withEtcd({ replicas: 3 });
  await settled();
  listed(0, 1, 2);
  world.etcd.news();
  const claim = await uidOf("data-c1-etcd-2-0");
  world.runner.statuses.set("c1-etcd-2-0", EMPTY);
  let state = await settled(2);
  expect(state.upgrade).toMatchObject({
    reason: "EtcdMembersChanging",
    message: expect.stringContaining("etcd-2 is being replaced: its data is missing"),
  });
  expect(state.apiReady).toBe(true);
  world.runner.statuses.delete("c1-etcd-2-0");
  state = await settled();
  expect(world.etcd.news()).toEqual(["remove c1-etcd-2", "add voter"]);
  expect(await uidOf("data-c1-etcd-2-0")).toBe(claim);
  expect(state.upgrade).toBeUndefined();
  expect(state.components.filter(({ name }) => name.startsWith("etcd"))).toHaveLength(3);
  expect(await beginning(2)).toBe("existing c1-etcd-2");
});

test("keeps the member stopped between the steps, and starts it with the addresses of the others only after it was added", async () => {
  withEtcd({ replicas: 3 });
  await settled();
  listed(0, 1, 2);
  world.runner.statuses.set("c1-etcd-2-0", EMPTY);
  await world.progress();
  world.etcd.addMember = () => Promise.reject(new Error("etcdserver: unhealthy cluster"));
  const state = await settled(4);
  expect(state.upgrade?.message).toContain("unhealthy cluster");
  expect((await world.client.get(StatefulSet, { namespace: "default", name: "c1-etcd-2" }))?.spec?.replicas).toBe(0);
  expect(await beginning(2)).toBe("existing c1-etcd-2");
});

test("deletes the volume of a member with damaged files; without a quorum it changes nothing", async () => {
  withEtcd({ replicas: 3 });
  await settled();
  listed(0, 1, 2);
  const claim = await uidOf("data-c1-etcd-1-0");
  world.runner.statuses.set("c1-etcd-1-0", crashing("panic: invalid database: crc mismatch", 4));
  await settled(2);
  world.runner.statuses.delete("c1-etcd-1-0");
  expect((await settled()).upgrade).toBeUndefined();
  expect(await uidOf("data-c1-etcd-1-0")).not.toBe(claim);
  world.etcd.news();
  for (const pod of ["c1-etcd-0-0", "c1-etcd-1-0"]) world.runner.statuses.set(pod, EMPTY);
  const state = await settled(4);
  expect(state.upgrade).toMatchObject({ reason: "EtcdQuorumLost" });
  expect(world.etcd.news()).toEqual([]);
});

test("scales from one member to three and back: one at a time, kube-apiservers follow, volumes are deleted with members", async () => {
  await settled();
  listed(0);
  withEtcd({ replicas: 3 });
  world.etcd.news();
  const servers = async (): Promise<number> => {
    const found = (await world.client.get(
      { group: "apps", version: "v1", kind: "Deployment", plural: "deployments", namespaced: true },
      { namespace: "default", name: "c1-kube-apiserver" },
    )) as Unstructured;
    return /--etcd-servers=([^"]*)/.exec(JSON.stringify(found))?.[1]?.split(",").length ?? 0;
  };
  expect((await settled(30)).upgrade).toBeUndefined();
  expect(world.etcd.news()).toEqual(["add learner", "promote", "add learner", "promote"]);
  expect(await servers()).toBe(3);
  listed(0, 1, 2);
  world.etcd.leader = "3";
  withEtcd({ replicas: 1 });
  expect((await settled(30)).upgrade).toBeUndefined();
  expect(world.etcd.news()).toEqual(["move leader", "remove c1-etcd-2", "remove c1-etcd-1"]);
  expect(await servers()).toBe(1);
  const left = (await world.things(owner)).filter((thing) => /^(StatefulSet|PersistentVolumeClaim)/.test(thing));
  expect(left.map((thing) => thing.split(" ")[1])).toEqual(["data-c1-etcd-0-0", "c1-etcd-0"]);
});

test("replaces members one at a time when their specification changes, each once all others are ready", async () => {
  withEtcd({ replicas: 3 });
  await settled();
  withEtcd({ replicas: 3, extraArgs: [{ name: "heartbeat-interval", value: "200" }] });
  const changed = async (): Promise<string[]> => {
    const { items } = await world.client.list(StatefulSet, { namespace: "default" });
    return items
      .filter((each) => JSON.stringify(each).includes("heartbeat"))
      .map(({ metadata }) => metadata.name ?? "");
  };
  expect((await world.placement.ensure(plan)).upgrade?.message).toContain("as a trial");
  expect(await changed()).toEqual([]);
  world.runner.statuses.set("c1-etcd-0-0", { phase: "Pending" });
  const state = await settled(6);
  expect(await changed()).toEqual(["c1-etcd-0"]);
  expect(state.upgrade).toMatchObject({ reason: "EtcdChanging" });
  world.runner.statuses.delete("c1-etcd-0-0");
  expect((await settled(20)).upgrade).toBeUndefined();
  expect(await changed()).toEqual(["c1-etcd-0", "c1-etcd-1", "c1-etcd-2"]);
});

test("compacts, defragments and disarms on a space alarm, and reports the space in use", async () => {
  await settled();
  world.etcd.news();
  const now = async (): Promise<PlacementState> => {
    await world.clock.advance(61_000);
    return await world.placement.ensure(plan);
  };
  world.etcd.errors = ["memberID:1 alarm:NOSPACE "];
  world.etcd.dbSize = 2048 * MIB;
  expect((await now()).etcd).toBeUndefined();
  expect(world.etcd.news()).toEqual(["compact 42", "defragment", "disarm"]);
  world.etcd.errors = ["memberID:1 alarm:NOSPACE "];
  world.etcd.compacted = 2047 * MIB;
  world.etcd.dbSize = 2048 * MIB;
  expect((await now()).etcd).toMatchObject({
    reason: "NoSpace",
    message: expect.stringContaining("spec.etcd.quotaBytes"),
  });
  world.etcd.errors = [];
  world.etcd.status = () => Promise.reject(new Error('pods "c1-etcd-0-0" is forbidden: cannot get pods/portforward'));
  expect((await now()).etcd).toMatchObject({ reason: "EtcdNotAsked", message: expect.stringContaining("portforward") });
});

test("takes a snapshot from a ready member", async () => {
  await settled();
  const file = join(scratch, "snapshot.db");
  await world.placement.snapshot(plan, file);
  expect(await readFile(file, "utf8")).toBe("the data");
  world.runner.statuses.set("etcd", crashing("out of memory"));
  await world.progress();
  await world.progress();
  await expect(world.placement.snapshot(plan, file)).rejects.toThrow("no member of etcd is ready");
});

test("takes exactly one backup per upgrade, and does not upgrade without it", async () => {
  await settled();
  const made: string[] = [];
  plan = { ...plan, version: "v1.35.4", backUp: () => Promise.reject(new Error("the bucket is gone")) };
  expect(await settled(3)).toMatchObject({
    version: "v1.34.4",
    upgrade: { reason: "BackupFailed", message: expect.stringContaining("the bucket is gone") },
  });
  plan = { ...plan, backUp: (label) => Promise.resolve(String(made.push(label))) };
  expect(await settled(20)).toMatchObject({ version: "v1.35.4" });
  expect(made).toEqual(["before-v1.35.4"]);
});

/** Adds a function that takes backups to the plan. */
async function restoreOf(name: string): Promise<void> {
  const file = join(scratch, `${name}.db`);
  await writeFile(file, `data of ${name}`);
  plan = { ...plan, restore: { name: `default/c1/${name}`, snapshotFile: () => Promise.resolve(file) } };
}

test("a restore stops everything, hands the snapshot to a pod per member that fills the volume, and starts everything", async () => {
  withEtcd({ replicas: 3, toolsImage: "example.org/busybox:1" });
  await settled();
  const claim = await uidOf("data-c1-etcd-0-0");
  await restoreOf("20261116T030000Z");
  let state = await world.placement.ensure(plan);
  expect(state.problem).toMatchObject({ reason: "Restoring", message: expect.stringContaining("to be deleted") });
  for (let turn = 0; turn < 20 && world.handed.length < 3; turn++) {
    await world.progress();
    state = await world.placement.ensure(plan);
  }
  expect((await world.things(owner)).filter((thing) => /^Pod c1-(etcd-\d-0|kube)/.test(thing))).toEqual([]);
  const pod = (await world.client.get(Pod, { namespace: "default", name: "c1-etcd-1-restore" })) as unknown;
  expect(pod).toMatchObject({
    spec: {
      restartPolicy: "Never",
      initContainers: [{ name: "receive", image: "example.org/busybox:1" }],
      containers: [
        {
          image: "registry.k8s.io/etcd:3.6.5-0",
          command: expect.arrayContaining(["etcdutl", "restore", "c1-etcd-1", peer(1), "--mark-compacted"]),
        },
      ],
      volumes: [{ name: "data", persistentVolumeClaim: { claimName: "data-c1-etcd-1-0" } }, { name: "restore" }],
    },
  });
  expect(world.handed.map(({ pod: name, bytes }) => `${name} ${bytes}`).toSorted()).toEqual(
    [0, 1, 2].map((index) => `c1-etcd-${index}-restore data of 20261116T030000Z`),
  );
  expect(world.handed[0]?.command.slice(3)).toEqual(["sh", "24", expect.stringMatching(/^[0-9a-f]{64}$/)]);
  state = await settled(20);
  expect(state.problem).toBeUndefined();
  expect(state.components.every(({ ready }) => ready)).toBe(true);
  expect((await world.things(owner)).some((thing) => thing.includes("-restore "))).toBe(false);
  expect(await uidOf("data-c1-etcd-0-0")).toBe(claim);
  expect(world.handed).toHaveLength(3);
  expect(await beginning(0)).toBe("existing c1-etcd-0");
});

test("restores a new control plane before its etcd starts for the first time", async () => {
  await restoreOf("20261116T040000Z");
  expect((await settled(15)).components.every(({ ready }) => ready)).toBe(true);
  expect(world.handed.map(({ pod }) => pod)).toEqual(["c1-etcd-0-restore"]);
});

test("reports a lost volume of the only member instead of starting empty; restores the requested backup again", async () => {
  await settled();
  world.runner.statuses.set("c1-etcd-0-0", EMPTY);
  expect((await settled(3)).problem).toMatchObject({
    reason: "DataLost",
    message: expect.stringContaining("spec.etcd.restoreFrom"),
  });
  await restoreOf("20261116T050000Z");
  world.runner.statuses.clear();
  expect((await settled(20)).apiReady).toBe(true);
  world.runner.statuses.set("c1-etcd-0-0", EMPTY);
  world.runner.received.clear();
  await world.progress();
  await world.progress();
  expect((await world.placement.ensure(plan)).problem).toMatchObject({ reason: "Restoring" });
  world.runner.statuses.clear();
  expect((await settled(20)).apiReady).toBe(true);
  expect(world.handed).toHaveLength(2);
});

test("data that was found to be lost stays lost while its member starts again", async () => {
  await settled();
  world.runner.statuses.set("c1-etcd-0-0", EMPTY);
  expect((await settled(3)).problem).toMatchObject({ reason: "DataLost" });
  world.runner.statuses.set("c1-etcd-0-0", runningAgain(EMPTY));
  expect(await settled(3)).toMatchObject({ apiReady: false, problem: { reason: "DataLost" } });
});

test("a member that restarts while it is being restored is not permitted to begin with empty data", async () => {
  withEtcd({ replicas: 3 });
  await settled();
  await restoreOf("20261116T080000Z");
  for (let turn = 0; turn < 30; turn++) {
    await world.placement.ensure(plan);
    expect(await Promise.all([0, 1, 2].map(beginning))).toEqual([0, 1, 2].map((index) => `existing c1-etcd-${index}`));
    await world.progress();
  }
  expect(world.handed).toHaveLength(3);
});

test("does not start a control plane empty that has served but has no record", async () => {
  const before = plan;
  plan = { ...before, initialized: true };
  expect((await settled(2)).problem).toMatchObject({
    reason: "DataLost",
    message: expect.stringContaining("hostCluster"),
  });
  expect((await world.things(owner)).some((thing) => thing.startsWith("StatefulSet"))).toBe(false);
  plan = before;
  await settled();
  plan = { ...before, initialized: true };
  expect((await settled(2)).problem).toBeUndefined();
});

test("rejects a restore into an EmptyDir", async () => {
  withEtcd({ storage: { type: "EmptyDir" } });
  await restoreOf("20261116T060000Z");
  expect((await settled(3)).problem).toMatchObject({ reason: "RestoreNeedsVolume" });
});

test("killed after any write of a restore, the next manager reaches the same state", {
  timeout: 60_000,
}, async () => {
  const drive = async (placement: PodsPlacement, dead: () => boolean): Promise<void> => {
    try {
      for (let turn = 0; turn < 40; turn++) {
        const { components, upgrade } = await placement.ensure(plan);
        if (dead() || (components.length > 3 && components.every(({ ready }) => ready) && upgrade === undefined))
          return;
        await world.progress();
      }
    } catch (error) {
      if (!dead()) throw error;
    }
  };
  const outcome = async (): Promise<unknown> => {
    const secret = await world.client.get(HostSecret, { namespace: "default", name: "c1-hcp-etcd" });
    const record = JSON.parse(secret?.metadata.annotations?.[RECORD_ANNOTATION] ?? "{}") as Record<string, unknown>;
    const things = (await world.things(owner)).map((thing) => thing.split(" ").slice(0, 2).join(" "));
    return { things, restored: record["restored"], restoring: record["restoring"] };
  };
  await restoreOf("20261116T070000Z");
  const calm = world.dying(Infinity);
  await drive(calm.placement, () => false);
  const expected = await outcome();
  expect(expected).toMatchObject({ restored: "default/c1/20261116T070000Z", restoring: undefined });
  for (let writes = 1; writes <= calm.transport.writes; writes += 3) {
    await world.close();
    world = await PodsWorld.open();
    const { placement, transport } = world.dying(writes);
    await drive(placement, () => transport.dead);
    await drive(await world.again(), () => false);
    expect(await outcome(), `killed after ${writes} writes`).toEqual(expected);
  }
});

test("killed after any write of a replacement, the next manager has every member listed once", {
  timeout: 60_000,
}, async () => {
  withEtcd({ replicas: 3 });
  for (let writes = 1; writes <= 9; writes++) {
    await settled(8);
    listed(0, 1, 2);
    const { etcd, runner } = world;
    const add = etcd.addMember.bind(etcd);
    etcd.addMember = async (...call) => {
      runner.statuses.clear();
      await add(...call);
    };
    runner.statuses.set("c1-etcd-2-0", EMPTY);
    await world.progress();
    const { placement, transport } = world.dying(writes);
    for (let turn = 0; turn < 10 && !transport.dead; turn++) {
      await placement.ensure(plan).catch((error: unknown) => {
        if (!transport.dead) throw error;
      });
      await world.progress();
    }
    const state = await settled(10, await world.again());
    expect(state.upgrade, `killed after ${writes} writes`).toBeUndefined();
    expect(etcd.listed.flatMap(({ peerUrls }) => peerUrls).toSorted()).toEqual([peer(0), peer(1), peer(2)]);
    expect(await beginning(2)).toBe("existing c1-etcd-2");
    await world.close();
    world = await PodsWorld.open();
  }
});
