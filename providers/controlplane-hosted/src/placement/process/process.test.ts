import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { seededRandom, VirtualClock } from "@capstan/apimachinery";
import { type Authorities, clusterNetwork } from "@capstan/controlplane";
import { createCertificateAuthority, createServiceAccountKey } from "@capstan/pki";
import { PortAllocator, SimulatedEtcd } from "@capstan/workloads";
import { afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import type { HostedControlPlaneSpec } from "../../kinds/hosted-control-plane.ts";
import { FakeWorkloads } from "../../testing/fake-workloads.ts";
import type { PlacementState } from "../placement.ts";
import { ProcessPlacement } from "./process.ts";

const owner = "default/c1";
const random = seededRandom(7);
let clock: VirtualClock;
let root: string;
let workloads: FakeWorkloads;
let etcd: SimulatedEtcd;
let client: SimulatedEtcd;
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
  etcd = new SimulatedEtcd();
  client = etcd;
  workloads.onStart = async (program) => etcd.start(program);
  restartManager();
});

afterEach(() => rm(root, { recursive: true, force: true }));

/** A new manager knows only what is on disk and which processes run. */
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
  throw new Error("did not settle");
}

const servers = (name = "kube-apiserver"): number =>
  workloads
    .args(owner, name)
    .find((argument) => argument.startsWith("--etcd-servers="))
    ?.split(",").length ?? 0;

test("starts etcd and kube-apiserver at once, then the others; a second pass does nothing", async () => {
  expect((await ensure()).apiReady).toBe(true);
  const started = workloads.news();
  expect(started.slice(0, 2).toSorted()).toEqual(["start etcd", "start kube-apiserver"]);
  expect(started.slice(2)).toEqual(["start kube-controller-manager", "start kube-scheduler"]);
  await ensure();
  expect(workloads.news()).toEqual([]);
});

test("rolls out another configuration with a successor, so that the API always responds", async () => {
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

test("keeps the old configuration serving if kube-apiserver does not start with the new one, and reports why", async () => {
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
  expect((await ensure(bad)).upgrade?.reason, "not retried").toBe("ConfigurationRefused");
  expect(workloads.news()).toEqual([]);
  expect((await ensure()).upgrade).toBeUndefined();
  expect(workloads.news()).toEqual([]);
});

test("scales etcd from one member to three and back: one at a time, as learners first, with a transfer of leadership", async () => {
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
    "configured with all members at once",
  ).toHaveLength(1);
  expect(events, "no member restarts for another").not.toContain("restart etcd");

  etcd.leader = etcd.listed[2]?.id ?? "";
  await settled();
  expect(etcd.news()).toEqual(["move leader", "remove etcd-2", "remove etcd-1"]);
  expect(servers()).toBe(1);
  const back = workloads.news();
  expect(back.indexOf("restart kube-apiserver"), "kube-apiserver stops using them first").toBeLessThan(
    back.indexOf("remove etcd-2"),
  );
  expect(back).toContain("remove etcd-1");
});

test("removes, adds and restarts a member that lost its data, while the others keep running", async () => {
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

test("replaces a member with damaged data, once", async () => {
  await settled({ etcd: { replicas: 3 } });
  workloads.news();
  const broken = { phase: "Failed", restarts: 3, message: "its last error: panic: walpb: crc mismatch" } as const;
  workloads.fate = ({ id }) => (id.name === "etcd-2" ? broken : undefined);
  const state = await ensure({ etcd: { replicas: 3 } });
  expect(state.upgrade?.message).toContain(
    "etcd-2 is being replaced: its data is damaged (panic: walpb: crc mismatch)",
  );
  expect(etcd.news()).toEqual(["remove etcd-2", "add voter"]);
  await ensure({ etcd: { replicas: 3 } });
  await ensure({ etcd: { replicas: 3 } });
  expect(etcd.news(), "a repeated failure has another cause").toEqual([]);
});

test("a manager that is killed after any call to etcd continues where it stopped", async () => {
  await settled();
  let calls = 0;
  const dying = new Proxy(etcd, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== "function") return value;
      if (!/^(add|promote|remove|move)/.test(String(name))) return value.bind(target) as unknown;
      return async (...args: unknown[]) => {
        await (value as (...all: unknown[]) => Promise<void>).apply(target, args);
        // Every other call is the last one of its manager.
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

test("without a quorum it removes nothing and reports what to do", async () => {
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

test("restarts the members of etcd one at a time when their specification changes", async () => {
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

test("compacts and defragments a full etcd, which then accepts writes again", async () => {
  await settled({ etcd: { quotaBytes: 2 ** 28 } });
  etcd.news();
  Object.assign(etcd, { dbSize: 2 ** 28, dbSizeInUse: 2 ** 20, errors: ["memberID:1 alarm:NOSPACE"] });
  const calm = await ensure({ etcd: { quotaBytes: 2 ** 28 } });
  expect(calm.etcd, "checked every minute").toBeUndefined();
  await clock.advance((calm.recheckAtMs ?? 0) - clock.now());
  const state = await ensure({ etcd: { quotaBytes: 2 ** 28 } });
  expect(etcd.news()).toEqual(["compact 42", "defragment leader", "disarm"]);
  expect(state.etcd).toBeUndefined();
});

test("reports an etcd that is full of live data until there is space, and checks it often", async () => {
  const spec = { etcd: { quotaBytes: 2 ** 28 } };
  await settled(spec);
  Object.assign(etcd, { dbSize: 2 ** 28, compacted: 2 ** 28, errors: ["memberID:1 alarm:NOSPACE"] });
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

test("checks etcd every 5 s with more than half of the quota in use, and immediately when the quota changes", async () => {
  const changedTo = async (quotaBytes: number): Promise<PlacementState> => {
    for (let pass = 0; pass < 10; pass++) {
      const state = await ensure({ etcd: { quotaBytes } });
      if (state.upgrade === undefined) return state;
      await clock.advance(100);
    }
    throw new Error("did not settle");
  };
  await settled({ etcd: { quotaBytes: 2 ** 29 } });
  Object.assign(etcd, { dbSize: 2 ** 27, dbSizeInUse: 2 ** 27 });
  const crowded = await changedTo(2 ** 28);
  expect((crowded.recheckAtMs ?? 0) - clock.now()).toBe(5000);
  Object.assign(etcd, { dbSize: 2 ** 28, compacted: 2 ** 28, errors: ["memberID:1 alarm:NOSPACE"] });
  await clock.advance(5000);
  const full = await ensure({ etcd: { quotaBytes: 2 ** 28 } });
  expect(full.etcd?.reason).toBe("NoSpace");
  expect((full.recheckAtMs ?? 0) - clock.now(), "a defragmentation is a pause").toBe(15_000);
  expect((await changedTo(2 ** 29)).etcd, "healthy with a larger quota").toBeUndefined();
});

test("defragments by schedule and by share of unused space, the leader last", async () => {
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

test("rotating the cluster CA restarts no kube-apiserver; rotating etcd's CA uses a successor", async () => {
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

test("reports a full disk with what to do, and loses nothing", async () => {
  await settled();
  const ensure_ = workloads.ensure.bind(workloads);
  workloads.ensure = () =>
    Promise.reject(Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC" }));
  const full = await ensure({ etcd: { quotaBytes: 2 ** 28 } });
  expect(full.problem).toEqual({
    reason: "DiskFull",
    message: "ENOSPC: no space left on device, write; free space in the file system of the data directory",
  });
  workloads.ensure = ensure_;
  expect((await settled()).apiReady).toBe(true);
});

test("keeps the data of an earlier object of the same name, and deletes it on request", async () => {
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
  ["ENOSPC", "DiskFull", "free space in the file system of the data directory"],
  ["EACCES", "FilesNotWritable", "make the data directory writable"],
  ["EADDRNOTAVAIL", "AddressNotUsable", "set spec.expose.bindAddress"],
])("reports a failed port allocation with %s as %s", async (code, reason, cure) => {
  const ports = new PortAllocator(root);
  ports.allocate = () => Promise.reject(Object.assign(new Error(`${code}: it failed`), { code }));
  restartManager(ports);
  const reserved = await placement.reserve({ owner, spec: { version: "v1.34.4" }, endpoint: undefined });
  expect(reserved).toMatchObject({ type: "failed", reason, message: expect.stringContaining(cure) });
});

test("a damaged record does not block the deletion of a control plane", async () => {
  await settled();
  await writeFile(join(root, owner, "plane.json"), "{");
  await expect(ensure()).rejects.toThrow("plane.json cannot be read");
  await placement.remove(owner, { spec: { version: "v1.34.4" } });
  expect(workloads.running.size).toBe(0);
});
