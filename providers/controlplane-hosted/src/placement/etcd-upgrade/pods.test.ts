import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Deployment, HostSecret, Pod, type PodStatus, Service, StatefulSet } from "@capstan/workloads";
import { afterEach, beforeEach, expect, test } from "vitest";
import { makePlan } from "../../contract-suite/placement-cases.ts";
import type { HostedControlPlaneSpec } from "../../kinds/hosted-control-plane.ts";
import { PodsWorld } from "../../testing/pods-world.ts";
import type { ControlPlanePlan, PlacementState } from "../placement.ts";
import type { PodsPlacement } from "../pods/pods.ts";
import { type PodsRecord, readPodsRecord } from "../pods/record.ts";

const owner = "default/c1";
const NEW = "v1.35.4";
const [OLD_IMAGE, NEW_IMAGE] = ["registry.k8s.io/etcd:3.6.5-0", "registry.k8s.io/etcd:3.6.6-0"];
let world: PodsWorld;
let plan: ControlPlanePlan;
let scratch: string;
/** Labels of the backups that were taken. */
let backups: string[];

beforeEach(async () => {
  scratch = await mkdtemp(join(tmpdir(), "capstan-pods-etcd-change-"));
  await open();
});

async function open(): Promise<void> {
  world = await PodsWorld.open();
  backups = [];
  plan = {
    ...(await makePlan(world, owner)),
    backUp: async (label) => `20261118T03000${backups.push(label)}Z-${label}`,
    openBackup: async (name) => {
      const file = join(scratch, `${name}.db`);
      await writeFile(file, `data of ${name}`);
      return file;
    },
  };
}

afterEach(async () => {
  await world.close();
  await rm(scratch, { recursive: true, force: true });
});

/** Reconciles repeatedly while the world advances. */
async function settled(turns = 12, placement: PodsPlacement = world.placement): Promise<PlacementState> {
  let state = await placement.ensure(plan);
  for (let turn = 0; turn < turns; turn++) {
    await world.progress();
    state = await placement.ensure(plan);
  }
  return state;
}

const withEtcd = (etcd: NonNullable<HostedControlPlaneSpec["etcd"]>): void => {
  plan = { ...plan, spec: { ...plan.spec, etcd } };
};
const toVersion = (version: string): void => {
  plan = { ...plan, spec: { ...plan.spec, version }, version };
};
const BAD = { extraArgs: [{ name: "no-such-flag", value: "1" }] };

/** Pods that contain the text crash repeatedly with this message. */
function dooms(words: string, doomed: (text: string, name: string) => boolean): void {
  world.runner.fate = (pod) =>
    doomed(JSON.stringify(pod.spec), pod.metadata.name ?? "") && pod.metadata.name?.startsWith("c1-etcd") === true
      ? crashing(words)
      : undefined;
}
const crashing = (message: string): PodStatus => ({
  phase: "Running",
  conditions: [{ type: "Ready", status: "False" }],
  containerStatuses: [
    {
      name: "etcd",
      ready: false,
      restartCount: 3,
      state: { waiting: { reason: "CrashLoopBackOff" } },
      lastState: { terminated: { exitCode: 1, message } },
    },
  ],
});
const hasBadFlag = (text: string): boolean => text.includes("--no-such-flag=1");

const pods = async (): Promise<string[]> =>
  (await world.things(owner)).filter((thing) => thing.startsWith("Pod c1-etcd"));
const trial = () => world.client.get(Pod, { namespace: "default", name: "c1-etcd-next" });
const imageOf = async (kind: typeof StatefulSet, name: string): Promise<string> => {
  const found = await world.client.get(kind, { namespace: "default", name });
  return /"image":"([^"]*)"/.exec(JSON.stringify(found))?.[1] ?? "";
};
const etcdImage = (index = 0): Promise<string> => imageOf(StatefulSet, `c1-etcd-${index}`);
const apiserverImage = (): Promise<string> => imageOf(Deployment, "c1-kube-apiserver");
const record = async (): Promise<PodsRecord | undefined> =>
  readPodsRecord(await world.client.get(HostSecret, { namespace: "default", name: "c1-hcp-etcd" }));

test("tries an unknown argument of etcd in a separate pod: the serving one is not touched, and etcd's error is reported", async () => {
  await settled();
  const before = await pods();
  dooms("flag provided but not defined: -no-such-flag", hasBadFlag);
  withEtcd(BAD);
  const state = await settled();
  expect(state).toMatchObject({ apiReady: true, upgrade: { reason: "ConfigurationRefused" } });
  expect(state.upgrade?.message).toMatch(/flag provided but not defined: -no-such-flag; .*Correct spec\.etcd$/);
  expect(await pods(), "the trial is deleted, the member is the same").toEqual(before);
  const things = await world.things(owner);
  expect((await settled(3)).upgrade?.reason, "not retried").toBe("ConfigurationRefused");
  expect(await world.things(owner)).toEqual(things);
  withEtcd({});
  expect((await settled(3)).upgrade, "corrected").toBeUndefined();
  expect(await pods()).toEqual(before);
});

test("the trial has no data, volume or peers, and no Service selects it", async () => {
  await settled();
  withEtcd({ quotaBytes: 2 ** 30 });
  await world.placement.ensure(plan);
  const pod = (await trial()) ?? expect.fail("no trial");
  const text = JSON.stringify(pod);
  expect(text).toContain("--initial-cluster=c1-etcd-0=https://127.0.0.1:2380");
  expect(text).toContain("--quota-backend-bytes=1073741824");
  expect(text).not.toMatch(/svc:|persistentVolumeClaim|initial-cluster-0/);
  expect(pod.spec?.volumes).toContainEqual({ name: "data", emptyDir: {} });
  const service = await world.client.get(Service, { namespace: "default", name: "c1-etcd" });
  expect(pod.metadata.labels).not.toMatchObject(service?.spec?.selector ?? {});
  expect((await settled()).upgrade).toBeUndefined();
  expect(await trial()).toBeUndefined();
  expect(JSON.stringify(await world.client.get(StatefulSet, { namespace: "default", name: "c1-etcd-0" }))).toContain(
    "--quota-backend-bytes=1073741824",
  );
  expect(backups, "the same etcd keeps its data").toEqual([]);
});

test("waits four minutes for an image that cannot be pulled, and reports it; another request stops the trial", async () => {
  await settled();
  world.runner.statuses.set("etcd-trial", {
    phase: "Pending",
    conditions: [{ type: "Ready", status: "False" }],
    containerStatuses: [{ name: "etcd", state: { waiting: { reason: "ImagePullBackOff", message: "no such image" } } }],
  });
  withEtcd({ image: "registry.example.org/etcd:3.6.9-0" });
  let state = await settled(3);
  expect(state).toMatchObject({ apiReady: true, upgrade: { reason: "EtcdChanging" } });
  expect(state.upgrade?.message).toContain("no such image");
  expect((state.recheckAtMs ?? 0) - world.clock.now()).toBeLessThanOrEqual(240_000);
  withEtcd({});
  await settled(2);
  expect(await trial(), "no longer requested").toBeUndefined();
  withEtcd({ image: "registry.example.org/etcd:3.6.9-0" });
  await settled(3);
  await world.clock.advance(241_000);
  state = await settled(2);
  expect(state.upgrade).toMatchObject({ reason: "ConfigurationRefused", message: expect.stringContaining("no such") });
  expect([await etcdImage(), await trial()]).toEqual([OLD_IMAGE, undefined]);
});

test("reports that an older etcd does not get the data; tries an image without a tag", async () => {
  await settled();
  withEtcd({ image: "registry.k8s.io/etcd:3.5.24-0" });
  const state = await settled(3);
  expect(state).toMatchObject({ apiReady: true, upgrade: { reason: "EtcdNotOlder" } });
  expect(state.upgrade?.message).toContain(`spec.etcd.image registry.k8s.io/etcd:3.5.24-0 is older than ${OLD_IMAGE}`);
  expect(await etcdImage()).toBe(OLD_IMAGE);
  // Each is compared with one that has a tag.
  for (const image of ["registry.example.org:2/etcd", NEW_IMAGE, "registry.k8s.io/etcd@sha256:1abc2def"]) {
    withEtcd({ image });
    expect((await settled()).upgrade).toBeUndefined();
    expect(await etcdImage()).toBe(image);
  }
});

test("rolls back settings that fail only with the data, and deletes the pod that its StatefulSet would wait for", async () => {
  await settled();
  const volumes = await world.dataOf(owner);
  dooms("the data does not fit", (text, name) => name === "c1-etcd-0-0" && hasBadFlag(text));
  withEtcd(BAD);
  const state = await settled(20);
  expect(state).toMatchObject({ apiReady: true, upgrade: { reason: "ConfigurationRefused" } });
  expect(state.upgrade?.message).toContain("the data does not fit");
  expect(state.components.find(({ name }) => name === "etcd")).toMatchObject({ ready: true });
  const pod = await world.client.get(Pod, { namespace: "default", name: "c1-etcd-0-0" });
  expect(JSON.stringify(pod)).not.toContain("no-such-flag");
  expect(await world.dataOf(owner)).toBe(volumes);
});

test("a control plane whose first etcd has a wrong argument starts once that is corrected", async () => {
  dooms("flag provided but not defined", hasBadFlag);
  withEtcd(BAD);
  expect((await settled(4)).apiReady).toBe(false);
  withEtcd({});
  expect((await settled()).components.filter(({ ready }) => ready)).toHaveLength(4);
});

test("an upgrade changes etcd first and then kube-apiserver, with one backup after the trial has passed", async () => {
  await settled();
  world.runner.statuses.set("etcd-trial", { phase: "Pending" });
  toVersion(NEW);
  const state = await settled(4);
  expect(state).toMatchObject({ version: "v1.34.4", upgrade: { reason: "EtcdChanging" } });
  expect([await etcdImage(), await apiserverImage(), backups]).toEqual([
    OLD_IMAGE,
    "registry.k8s.io/kube-apiserver:v1.34.4",
    [],
  ]);
  world.runner.statuses.set("c1-etcd-0-0", { phase: "Pending" });
  world.runner.statuses.delete("etcd-trial");
  await settled(4);
  expect([await etcdImage(), await apiserverImage(), backups]).toEqual([
    NEW_IMAGE,
    "registry.k8s.io/kube-apiserver:v1.34.4",
    [`before-${NEW}`],
  ]);
  world.runner.statuses.clear();
  expect(await settled()).toMatchObject({ version: NEW });
  expect(backups).toHaveLength(1);
  expect(await record()).toMatchObject({ etcdServes: { version: NEW_IMAGE } });
  expect((await record())?.etcdChange).toBeUndefined();
});

test("rolls back an etcd version that does not start with the data, keeps the data, and reports why", async () => {
  await settled();
  dooms("cannot read this", (text, name) => name === "c1-etcd-0-0" && text.includes(NEW_IMAGE));
  toVersion(NEW);
  let state = await settled(20);
  expect(state).toMatchObject({ apiReady: true, version: "v1.34.4", upgrade: { reason: "UpgradeFailed" } });
  expect(state.upgrade?.message).toMatch(
    /etcd of v1\.35\.4 does not become ready: .*cannot read this; v1\.34\.4 keeps serving/,
  );
  expect([await etcdImage(), await apiserverImage()]).toEqual([OLD_IMAGE, "registry.k8s.io/kube-apiserver:v1.34.4"]);
  expect(world.handed, "nothing was restored").toEqual([]);
  const things = await world.things(owner);
  await settled(4);
  expect(await world.things(owner), "not retried automatically").toEqual(things);
  expect(backups).toHaveLength(1);
  toVersion("v1.34.4");
  expect((await settled(3)).upgrade).toBeUndefined();
  world.runner.fate = () => undefined;
  toVersion(NEW);
  state = await settled(20);
  expect(state, "retried on request").toMatchObject({ version: NEW });
  expect(state.upgrade).toBeUndefined();
});

/** The new etcd fails with the data, and so does the old one from then on, until its volume is restored. */
function spoilsData(): void {
  let spoilt = false;
  world.runner.fate = (pod) => {
    if (pod.metadata.name !== "c1-etcd-0-0") return undefined;
    const isNew = JSON.stringify(pod.spec).includes(NEW_IMAGE);
    spoilt ||= isNew;
    if (isNew) return crashing("panic");
    return spoilt && !world.runner.received.has("c1-etcd-0-restore") ? crashing("cannot be downgraded") : undefined;
  };
}

test("restores data that the old etcd can no longer read from the backup", async () => {
  await settled();
  spoilsData();
  toVersion(NEW);
  const state = await settled(40);
  expect(state).toMatchObject({ apiReady: true, version: "v1.34.4", upgrade: { reason: "UpgradeFailed" } });
  expect(world.handed.map(({ pod, bytes }) => `${pod} ${bytes}`)).toEqual([
    `c1-etcd-0-restore data of 20261118T030001Z-before-${NEW}`,
  ]);
  expect(await etcdImage()).toBe(OLD_IMAGE);
  expect((await pods()).map((thing) => thing.split(" ")[1])).toEqual(["c1-etcd-0-0"]);
  expect(await record()).not.toHaveProperty("etcdChange");
});

test("does not restore an earlier backup again because of that", async () => {
  const named = { name: `${owner}/20250101T000000Z`, snapshotFile: () => plan.openBackup?.("first") ?? "" };
  plan = { ...plan, restore: named as NonNullable<ControlPlanePlan["restore"]> };
  await settled(20);
  expect(world.handed).toHaveLength(1);
  world.runner.received.clear();
  spoilsData();
  toVersion(NEW);
  expect(await settled(40)).toMatchObject({ apiReady: true, upgrade: { reason: "UpgradeFailed" } });
  expect(world.handed.map(({ bytes }) => bytes)).toEqual(["data of first", `data of 20261118T030001Z-before-${NEW}`]);
});

test("rolls back several members one by one, with their data", async () => {
  withEtcd({ replicas: 3 });
  await settled();
  dooms("no", (text, name) => name === "c1-etcd-1-0" && text.includes(NEW_IMAGE));
  toVersion(NEW);
  const state = await settled(30);
  expect(state).toMatchObject({ apiReady: true, version: "v1.34.4", upgrade: { reason: "UpgradeFailed" } });
  expect([await etcdImage(0), await etcdImage(1), await etcdImage(2)]).toEqual(Array(3).fill(OLD_IMAGE));
  expect(state.components.filter(({ name, ready }) => name.startsWith("etcd") && ready)).toHaveLength(3);
  expect([world.handed, backups]).toEqual([[], [`before-${NEW}`]]);
});

test("does not try an upgrade that nodes do not support; a failed backup keeps the data from the new etcd", async () => {
  await settled();
  const before = await world.things(owner);
  const { backUp } = plan;
  toVersion(NEW);
  plan = { ...plan, upgradeRefusal: () => ({ reason: "KubeletTooOld", message: "n1" }) };
  expect((await settled(3)).upgrade?.reason).toBe("KubeletTooOld");
  expect(await world.things(owner)).toEqual(before);
  plan = { ...plan, upgradeRefusal: () => undefined, backUp: () => Promise.reject(new Error("the bucket is gone")) };
  const state = await settled(6);
  expect(state).toMatchObject({ apiReady: true, version: "v1.34.4", upgrade: { reason: "BackupFailed" } });
  expect(await etcdImage()).toBe(OLD_IMAGE);
  plan = { ...plan, ...(backUp === undefined ? {} : { backUp }) };
  expect(await settled(20)).toMatchObject({ version: NEW });
});

test("leaves nothing behind when hibernated and removed during a trial of etcd", async () => {
  await settled();
  world.runner.statuses.set("etcd-trial", { phase: "Pending" });
  withEtcd({ quotaBytes: 2 ** 30 });
  await settled(2);
  expect(await trial()).toBeDefined();
  for (let turn = 0; turn < 4; turn++) {
    await world.placement.hibernate(owner, { spec: plan.spec });
    await world.progress();
  }
  expect(await pods()).toEqual([]);
  await settled(4);
  expect(await trial()).toBeDefined();
  for (let turn = 0; turn < 6; turn++) {
    await world.placement.remove(owner, { spec: plan.spec });
    await world.progress();
  }
  expect(await world.things(owner)).toEqual([]);
});

test("does not change etcd in an EmptyDir, and reports that", async () => {
  withEtcd({ storage: { type: "EmptyDir" } });
  await settled();
  const before = await pods();
  withEtcd({ storage: { type: "EmptyDir" }, quotaBytes: 2 ** 30 });
  const state = await settled(4);
  expect(state).toMatchObject({ apiReady: true, upgrade: { reason: "DataWouldBeLost" } });
  expect(await pods()).toEqual(before);
});

test("killed after any write of an upgrade whose etcd fails, the next manager reaches the same state", {
  timeout: 120_000,
}, async () => {
  const drive = async (placement: PodsPlacement, dead: () => boolean): Promise<void> => {
    try {
      for (let turn = 0; turn < 40 && !dead(); turn++) {
        const { upgrade } = await placement.ensure(plan);
        if (upgrade?.reason === "UpgradeFailed") return;
        await world.progress();
      }
    } catch (error) {
      if (!dead()) throw error;
    }
  };
  const outcome = async (): Promise<unknown> => {
    const { upgrade, apiReady, version } = await settled(12, await world.again());
    // Names of pods depend on the keys, which differ in each world.
    const nameless = (thing: string): string => thing.replace(/-[0-9a-f]{8}-0 /, " ");
    const things = (await world.things(owner)).map((thing) => nameless(thing).split(" ").slice(0, 2).join(" "));
    const { etcdServes, etcdChange, restoring, restored } = (await record()) ?? {};
    const failed = upgrade?.reason;
    return { failed, apiReady, version, things, etcdServes, etcdChange, restoring, restored, image: await etcdImage() };
  };
  const begin = async (writes: number): Promise<ReturnType<PodsWorld["dying"]>> => {
    await settled();
    spoilsData();
    toVersion(NEW);
    return world.dying(writes);
  };
  const calm = await begin(Infinity);
  await drive(calm.placement, () => false);
  const expected = await outcome();
  expect(expected).toMatchObject({ failed: "UpgradeFailed", apiReady: true, image: OLD_IMAGE, etcdChange: undefined });
  expect(calm.transport.writes).toBeGreaterThan(15);
  for (let writes = 1; writes <= calm.transport.writes; writes += 3) {
    await world.close();
    await open();
    const { placement, transport } = await begin(writes);
    await drive(placement, () => transport.dead);
    await drive(await world.again(), () => false);
    expect(await outcome(), `killed after ${writes} writes`).toEqual(expected);
    expect(backups.length, "one more backup where it was not recorded").toBeLessThanOrEqual(2);
  }
});
