import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { seededRandom, VirtualClock } from "@capstan/apimachinery";
import { type Authorities, clusterNetwork } from "@capstan/controlplane";
import { createCertificateAuthority, createServiceAccountKey } from "@capstan/pki";
import { PortAllocator } from "@capstan/workloads";
import { afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { FakeEtcd } from "../../contract-suite/fake-etcd.ts";
import type { HostedControlPlaneSpec } from "../../kinds/hosted-control-plane.ts";
import { FakeWorkloads } from "../../testing/fake-workloads.ts";
import type { PlacementState } from "../placement.ts";
import { ProcessPlacement } from "./process.ts";

const owner = "default/c1";
const random = seededRandom(7);
let clock: VirtualClock;
let root: string;
let workloads: FakeWorkloads;
let etcd: FakeEtcd;
let client: FakeEtcd;
let placement: ProcessPlacement;
let authorities: Authorities;

beforeAll(async () => {
  const ca = (commonName: string) =>
    createCertificateAuthority({ commonName, notBeforeMs: new VirtualClock().now(), validMs: 1e11, random });
  authorities = {
    cluster: await ca("kubernetes"),
    etcd: await ca("etcd-ca"),
    frontProxy: await ca("front-proxy-ca"),
    serviceAccount: await createServiceAccountKey("ECDSA-P256"),
  };
});

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "capstan-process-"));
  clock = new VirtualClock();
  workloads = new FakeWorkloads(root);
  etcd = new FakeEtcd();
  client = etcd;
  workloads.onStart = async (program) => etcd.start(program);
  restartManager();
});

afterEach(() => rm(root, { recursive: true, force: true }));

/** A new manager knows what lies on disk and what runs, and nothing else. */
function restartManager(ports = new PortAllocator(root)): void {
  placement = new ProcessPlacement({
    root,
    workloads,
    ports,
    binaries: { find: async (version) => ({ dir: `/programs/${version}` }) },
    defaultAddress: "127.0.0.1",
    clock,
    random,
    client: () => client,
  });
}

async function ensure(spec: Partial<HostedControlPlaneSpec> = {}, keys = authorities): Promise<PlacementState> {
  return await placement.ensure({
    owner,
    clusterName: "c1",
    spec: { version: "v1.34.4", ...spec },
    version: "v1.34.4",
    endpoint: { host: "127.0.0.1", port: 6443 },
    network: clusterNetwork(undefined),
    authorities: keys,
    userFiles: { apiServer: {}, controllerManager: {}, scheduler: {} },
  });
}

/** Passes until nothing is pending; each pass by a new manager, so that every step is also a crash. */
async function settled(spec: Partial<HostedControlPlaneSpec> = {}, keys = authorities): Promise<PlacementState> {
  for (let pass = 0; pass < 30; pass++) {
    restartManager();
    const state = await ensure(spec, keys);
    if (state.upgrade === undefined) return state;
    await clock.advance(1000);
  }
  throw new Error("does not come to rest");
}

const servers = (name = "kube-apiserver"): number =>
  workloads
    .args(owner, name)
    .find((argument) => argument.startsWith("--etcd-servers="))
    ?.split(",").length ?? 0;

test("a control plane starts: etcd and kube-apiserver at once, then the others; a second pass does nothing", async () => {
  expect((await ensure()).apiReady).toBe(true);
  const started = workloads.news();
  expect(started.slice(0, 2).toSorted()).toEqual(["start etcd", "start kube-apiserver"]);
  expect(started.slice(2)).toEqual(["start kube-controller-manager", "start kube-scheduler"]);
  await ensure();
  expect(workloads.news()).toEqual([]);
});

test("another configuration goes through a successor, so that the API answers all the while", async () => {
  await ensure();
  workloads.news();
  const spec = { apiServer: { extraArgs: [{ name: "event-ttl", value: "2h" }] } };
  await settled(spec);
  expect(workloads.news()).toEqual([
    "start kube-apiserver-next",
    "restart kube-apiserver-next",
    "restart kube-apiserver",
    "remove kube-apiserver-next",
  ]);
  expect(workloads.args(owner, "kube-apiserver")).toContain("--event-ttl=2h");
  await ensure(spec);
  expect(workloads.news()).toEqual([]);
});

test("a configuration that kube-apiserver does not start with leaves the old one serving and says why", async () => {
  await ensure();
  workloads.news();
  workloads.fate = ({ args }) =>
    args.some((argument) => argument.includes("nonsense"))
      ? { phase: "Failed", restarts: 3, message: "its last error: Error: unknown flag: --nonsense" }
      : undefined;
  const bad = { apiServer: { extraArgs: [{ name: "nonsense", value: "1" }] } };
  const state = await ensure(bad);
  expect(state.apiReady).toBe(true);
  expect(state.upgrade?.reason).toBe("ConfigurationRefused");
  expect(state.upgrade?.message).toContain("unknown flag: --nonsense");
  expect(workloads.news()).toEqual(["start kube-apiserver-next", "remove kube-apiserver-next"]);
  restartManager();
  expect((await ensure(bad)).upgrade?.reason, "not tried again and again").toBe("ConfigurationRefused");
  expect(workloads.news()).toEqual([]);
  expect((await ensure()).upgrade).toBeUndefined();
  expect(workloads.news()).toEqual([]);
});

test("etcd from one member to three and back: one at a time, learners first, the leader hands over", async () => {
  await settled();
  workloads.fate = (program) => (etcd.isLearner(program) ? { phase: "Starting" } : { phase: "Ready" });
  expect(servers()).toBe(1);
  await settled({ etcd: { replicas: 3 } });
  expect(etcd.news()).toEqual(["add learner", "promote", "add learner", "promote"]);
  expect(etcd.listed.map(({ name, isLearner }) => [name, isLearner])).toEqual([
    ["etcd-0", false],
    ["etcd-1", false],
    ["etcd-2", false],
  ]);
  expect(servers()).toBe(3);
  const events = workloads.news();
  expect(
    events.filter((event) => event === "restart kube-apiserver"),
    "told of all members at once",
  ).toHaveLength(1);
  expect(events, "no member restarts for another").not.toContain("restart etcd");

  etcd.leader = etcd.listed[2]?.id ?? "";
  await settled();
  expect(etcd.news()).toEqual(["move leader", "remove etcd-2", "remove etcd-1"]);
  expect(servers()).toBe(1);
  const back = workloads.news();
  expect(back.indexOf("restart kube-apiserver"), "kube-apiserver lets go of them first").toBeLessThan(
    back.indexOf("remove etcd-2"),
  );
  expect(back).toContain("remove etcd-1");
});

test("a member whose data is lost is removed, added and started again; the others go on", async () => {
  await settled({ etcd: { replicas: 3 } });
  workloads.news();
  await workloads.stop({ owner, name: "etcd-1" });
  await rm(join(root, owner, "etcd-1/data"), { recursive: true });
  workloads.news();
  await settled({ etcd: { replicas: 3 } });
  expect(etcd.news()).toEqual(["remove etcd-1", "add voter"]);
  expect(workloads.news()).toEqual(["start etcd-1"]);
  expect(workloads.args(owner, "etcd-1")).toContain("--initial-cluster-state=existing");
});

test("a member whose data is damaged is taken in again, once", async () => {
  await settled({ etcd: { replicas: 3 } });
  workloads.news();
  const broken = { phase: "Failed", restarts: 3, message: "its last error: panic: walpb: crc mismatch" } as const;
  workloads.fate = ({ id }) => (id.name === "etcd-2" ? broken : undefined);
  const state = await ensure({ etcd: { replicas: 3 } });
  expect(state.upgrade?.message).toContain(
    "etcd-2 is taken in again: its data is damaged (panic: walpb: crc mismatch)",
  );
  expect(etcd.news()).toEqual(["remove etcd-2", "add voter"]);
  await ensure({ etcd: { replicas: 3 } });
  await ensure({ etcd: { replicas: 3 } });
  expect(etcd.news(), "what fails again so soon has another trouble").toEqual([]);
});

test("a manager that ends right after any call to etcd finds what it did and goes on", async () => {
  await settled();
  let calls = 0;
  const dying = new Proxy(etcd, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== "function" || !/^(add|promote|remove|move)/.test(String(name))) return value;
      return async (...args: unknown[]) => {
        await (value as (...all: unknown[]) => Promise<void>).apply(target, args);
        // Every other call is the last thing its manager does.
        if (calls++ % 2 === 0) throw new Error("killed");
      };
    },
  });
  client = dying;
  await settled({ etcd: { replicas: 3 } });
  await workloads.stop({ owner, name: "etcd-2" });
  await rm(join(root, owner, "etcd-2/data"), { recursive: true });
  await settled({ etcd: { replicas: 3 } });
  expect(etcd.listed.map(({ name, isLearner }) => `${name} ${isLearner}`).toSorted()).toEqual([
    "etcd-0 false",
    "etcd-1 false",
    "etcd-2 false",
  ]);
  await settled();
  expect(etcd.listed.map(({ name }) => name)).toEqual(["etcd-0"]);
  expect(calls).toBeGreaterThan(6);
});

test("without a quorum nothing is removed, and a person is told what to do", async () => {
  await settled({ etcd: { replicas: 3 } });
  for (const name of ["etcd-1", "etcd-2"]) {
    await workloads.stop({ owner, name });
    await rm(join(root, owner, name, "data"), { recursive: true });
  }
  const state = await ensure({ etcd: { replicas: 3 } });
  expect(state.upgrade).toMatchObject({ reason: "EtcdQuorumLost" });
  expect(state.upgrade?.message).toContain("spec.etcd.restoreFrom");
  expect(etcd.news()).toEqual([]);
});

test("members of etcd restart one at a time when their description changes", async () => {
  await settled({ etcd: { replicas: 3 } });
  workloads.news();
  const spec = { etcd: { replicas: 3, quotaBytes: 2 ** 28 } };
  let restarted = 0;
  workloads.fate = ({ id, args }) =>
    /^etcd(-\d)?$/.test(id.name) && args.includes(`--quota-backend-bytes=${2 ** 28}`) && restarted < 3
      ? { phase: "Starting" }
      : { phase: "Ready" };
  await ensure(spec);
  expect(workloads.news()).toEqual(["start etcd-next", "remove etcd-next", "restart etcd"]);
  await ensure(spec);
  expect(workloads.news(), "the others wait for it").toEqual([]);
  restarted = 3;
  await settled(spec);
  expect(workloads.news()).toEqual(["restart etcd-1", "restart etcd-2"]);
});

test("a full etcd is compacted, defragmented and written to again by itself", async () => {
  await settled({ etcd: { quotaBytes: 2 ** 28 } });
  etcd.news();
  Object.assign(etcd, { dbSize: 2 ** 28, dbSizeInUse: 2 ** 20, alarms: ["memberID:1 alarm:NOSPACE"] });
  const calm = await ensure({ etcd: { quotaBytes: 2 ** 28 } });
  expect(calm.etcd, "looked at every minute").toBeUndefined();
  await clock.advance((calm.recheckAtMs ?? 0) - clock.now());
  const state = await ensure({ etcd: { quotaBytes: 2 ** 28 } });
  expect(etcd.news()).toEqual(["compact 42", "defragment leader", "disarm"]);
  expect(state.etcd).toBeUndefined();
});

test("an etcd that is full of what is in use says so until there is room, and is looked at often", async () => {
  const spec = { etcd: { quotaBytes: 2 ** 28 } };
  await settled(spec);
  Object.assign(etcd, { dbSize: 2 ** 28, compacted: 2 ** 28, alarms: ["memberID:1 alarm:NOSPACE"] });
  await clock.advance(120_000);
  const full = await ensure(spec);
  expect(full.etcd?.reason).toBe("NoSpace");
  expect(full.etcd?.message).toMatch(/256\.0 MiB of at most 256\.0 MiB.*spec\.etcd\.quotaBytes/);
  expect(etcd.news()).not.toContain("disarm");
  etcd.compacted = 2 ** 20;
  await clock.advance((full.recheckAtMs ?? 0) - clock.now());
  expect((await ensure(spec)).etcd).toBeUndefined();
  expect(etcd.news()).toContain("disarm");
});

test("with more than half of the quota in use etcd is looked at every 5 s, and at once when the quota changes", async () => {
  const changedTo = async (quotaBytes: number): Promise<PlacementState> => {
    for (let pass = 0; pass < 10; pass++) {
      const state = await ensure({ etcd: { quotaBytes } });
      if (state.upgrade === undefined) return state;
      await clock.advance(100);
    }
    throw new Error("does not come to rest");
  };
  await settled({ etcd: { quotaBytes: 2 ** 29 } });
  Object.assign(etcd, { dbSize: 2 ** 27, dbSizeInUse: 2 ** 27 });
  const crowded = await changedTo(2 ** 28);
  expect((crowded.recheckAtMs ?? 0) - clock.now()).toBe(5000);
  Object.assign(etcd, { dbSize: 2 ** 28, compacted: 2 ** 28, alarms: ["memberID:1 alarm:NOSPACE"] });
  await clock.advance(5000);
  const full = await ensure({ etcd: { quotaBytes: 2 ** 28 } });
  expect(full.etcd?.reason).toBe("NoSpace");
  expect((full.recheckAtMs ?? 0) - clock.now(), "a defragmentation is a pause").toBe(15_000);
  expect((await changedTo(2 ** 29)).etcd, "raised, it is well").toBeUndefined();
});

test("unused space is given back by schedule and by share, the leader last", async () => {
  const spec = { etcd: { replicas: 3, defragment: { schedule: "0 * * * *" } } };
  await settled(spec);
  etcd.news();
  await clock.advance(3600_000);
  await ensure(spec);
  expect(etcd.news()).toEqual(["defragment", "defragment", "defragment leader"]);
  Object.assign(etcd, { dbSize: 2 ** 28, dbSizeInUse: 2 ** 26 });
  await clock.advance(120_000);
  await ensure(spec);
  expect(etcd.news(), "not twice within ten minutes").toEqual([]);
  await clock.advance(600_000);
  await ensure(spec);
  expect(etcd.news()).toEqual(["defragment", "defragment", "defragment leader"]);
});

test("rotating the CA restarts nothing that serves the API; rotating etcd's goes through a successor", async () => {
  await settled();
  workloads.news();
  const also = { certPem: authorities.frontProxy.certPem, keyPem: authorities.frontProxy.keyPem };
  await settled({}, { ...authorities, also: { cluster: also.certPem, frontProxy: also.certPem }, nodeSigner: also });
  const files = workloads.running.get(`${owner}/kube-apiserver`)?.program.secretFiles ?? {};
  expect(files["ca.crt"]).toContain(also.certPem.trim());
  expect(workloads.news()).toEqual(["restart kube-controller-manager", "restart kube-scheduler"]);
  await settled({}, { ...authorities, also: { etcd: also.certPem } });
  expect(workloads.news()).toEqual(
    expect.arrayContaining(["restart etcd", "start kube-apiserver-next", "restart kube-apiserver"]),
  );
});

test("a full disk is told with the cure, and nothing is lost", async () => {
  await settled();
  const ensure_ = workloads.ensure.bind(workloads);
  workloads.ensure = () =>
    Promise.reject(Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC" }));
  const full = await ensure({ etcd: { quotaBytes: 2 ** 28 } });
  expect(full.problem).toEqual({
    reason: "DiskFull",
    message: "ENOSPC: no space left on device, write; free space where the data directory lies",
  });
  workloads.ensure = ensure_;
  expect((await settled()).apiReady).toBe(true);
});

test("data of another object of that name is not touched, and goes when that is asked for", async () => {
  const request = { owner, spec: { version: "v1.34.4" }, endpoint: undefined, objectUid: "first" };
  await placement.reserve(request);
  await placement.ensure({
    owner,
    objectUid: "first",
    clusterName: "c1",
    spec: { version: "v1.34.4" },
    version: "v1.34.4",
    endpoint: { host: "127.0.0.1", port: 6443 },
    network: clusterNetwork(undefined),
    authorities,
    userFiles: { apiServer: {}, controllerManager: {}, scheduler: {} },
  });
  workloads.news();
  const second = await placement.reserve({ ...request, objectUid: "second" });
  expect(second).toMatchObject({ type: "failed", reason: "LeftoverData" });
  expect(workloads.news()).toEqual([]);
  const discarded = await placement.reserve({ ...request, objectUid: "second", discardLeftovers: true });
  expect(discarded.type).toBe("reserved");
  expect(workloads.news()).toContain("remove etcd");
});

test.each([
  ["ENOSPC", "DiskFull", "free space where the data directory lies"],
  ["EACCES", "FilesNotWritable", "make the data directory writable"],
  ["EADDRNOTAVAIL", "AddressNotUsable", "set spec.expose.bindAddress"],
])("no port for %s is told as %s", async (code, reason, cure) => {
  const ports = new PortAllocator(root);
  ports.allocate = () => Promise.reject(Object.assign(new Error(`${code}: it failed`), { code }));
  restartManager(ports);
  const reserved = await placement.reserve({ owner, spec: { version: "v1.34.4" }, endpoint: undefined });
  expect(reserved).toMatchObject({ type: "failed", reason, message: expect.stringContaining(cure) });
});

test("a damaged record does not keep a control plane from going", async () => {
  await settled();
  await writeFile(join(root, owner, "plane.json"), "{");
  await expect(ensure()).rejects.toThrow("plane.json cannot be read");
  await placement.remove(owner, { spec: { version: "v1.34.4" } });
  expect(workloads.running.size).toBe(0);
});
