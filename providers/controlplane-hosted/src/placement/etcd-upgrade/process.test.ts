import { chmod, chown, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { seededRandom, VirtualClock } from "@capstan/apimachinery";
import { type Authorities, clusterNetwork } from "@capstan/controlplane";
import { createCertificateAuthority, createServiceAccountKey } from "@capstan/pki";
import { PortAllocator, type Program, type ProgramState, SimulatedEtcd } from "@capstan/workloads";
import { afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import type { HostedControlPlaneSpec } from "../../kinds/hosted-control-plane.ts";
import { FakeWorkloads } from "../../testing/fake-workloads.ts";
import type { ControlPlanePlan, PlacementState } from "../placement.ts";
import { ProcessPlacement } from "../process/process.ts";

const owner = "default/c1";
const OLD = "v1.33.9";
const NEW = "v1.34.4";
const random = seededRandom(7);
const clock = new VirtualClock();
let root: string;
let workloads: FakeWorkloads;
let authorities: Authorities;

beforeAll(async () => {
  const ca = (commonName: string) =>
    createCertificateAuthority({ commonName, notBeforeMs: clock.now(), validMs: 1e11, random });
  authorities = {
    cluster: await ca("kubernetes"),
    etcd: await ca("etcd-ca"),
    frontProxy: await ca("front-proxy-ca"),
    serviceAccount: await createServiceAccountKey("ECDSA-P256"),
  };
});

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "capstan-etcd-change-"));
  workloads = new FakeWorkloads(root);
});

afterEach(() => rm(root, { recursive: true, force: true }));

const etcd = new SimulatedEtcd();

/** One pass of a new manager, which knows only what is on disk and which processes run. */
function pass(
  spec: Partial<HostedControlPlaneSpec> = {},
  more: Partial<ControlPlanePlan> = {},
): Promise<PlacementState> {
  workloads.onStart = async (program) => {
    etcd.start(program);
    // Every etcd of a version marks the data as its own.
    if (/^etcd(-\d+)?$/.test(program.id.name) && program.command.includes(NEW))
      await writeFile(join(root, owner, program.id.name, "data/member/version"), NEW);
  };
  const placement = new ProcessPlacement({
    root,
    workloads,
    ports: new PortAllocator(root),
    binaries: { find: async (version) => ({ dir: `/programs/${version}` }) },
    defaultAddress: "127.0.0.1",
    clock,
    random,
    client: () => etcd,
  });
  return placement.ensure({
    owner,
    clusterName: "c1",
    spec: { version: OLD, ...spec },
    version: spec.version ?? OLD,
    endpoint: { host: "127.0.0.1", port: 6443 },
    network: clusterNetwork(undefined),
    authorities,
    userFiles: { apiServer: {}, controllerManager: {}, scheduler: {} },
    ...more,
  });
}

const failed = (message: string): Partial<ProgramState> => ({
  phase: "Failed",
  restarts: 3,
  message: `exited by itself; its last error: ${message}`,
});
/** Programs for which the predicate is true crash repeatedly. */
function dooms(message: string, doomed: (program: Program) => boolean): void {
  workloads.fate = (program) => (doomed(program) ? failed(message) : { phase: "Ready", restarts: 0, message: "" });
}
const commandOf = (name: string): string => workloads.running.get(`${owner}/${name}`)?.program.command ?? "";
const bad = { etcd: { extraArgs: [{ name: "no-such-flag", value: "1" }] } };
const hasBadFlag = ({ args }: Program): boolean => args.includes("--no-such-flag=1");

test("tries an unknown argument of etcd in a separate process: the serving one is not touched, and etcd's error is reported", async () => {
  await pass();
  workloads.news();
  dooms("flag provided but not defined: -no-such-flag", hasBadFlag);
  const state = await pass(bad);
  expect(workloads.news()).toEqual(["start etcd-next", "remove etcd-next"]);
  expect(state).toMatchObject({ apiReady: true, upgrade: { reason: "ConfigurationRefused" } });
  expect(state.upgrade?.message).toMatch(/flag provided but not defined: -no-such-flag; .*Correct spec\.etcd$/);
  expect((await pass(bad)).upgrade?.reason, "not retried").toBe("ConfigurationRefused");
  expect(workloads.news()).toEqual([]);
  expect((await pass()).upgrade, "corrected").toBeUndefined();
  expect(workloads.news()).toEqual([]);
});

test("waits for a trial of etcd; another request stops it", async () => {
  await pass();
  workloads.news();
  workloads.fate = ({ id }) => (id.name === "etcd-next" ? { phase: "Starting" } : undefined);
  const spec = { etcd: { quotaBytes: 2 ** 30 } };
  const state = await pass(spec);
  expect(state.upgrade).toMatchObject({ reason: "EtcdChanging" });
  expect((state.recheckAtMs ?? 0) - clock.now()).toBeLessThanOrEqual(240_000);
  expect(workloads.news()).toEqual(["start etcd-next"]);
  await pass(spec);
  expect(workloads.news(), "nothing new").toEqual([]);
  await pass();
  expect(workloads.news()).toEqual(["remove etcd-next"]);
});

test("rolls back settings that fail only with the data", async () => {
  await pass();
  workloads.news();
  dooms("the data does not fit", (program) => program.id.name === "etcd" && hasBadFlag(program));
  const state = await pass(bad);
  expect(workloads.news()).toEqual(["start etcd-next", "remove etcd-next", "restart etcd", "restart etcd"]);
  expect(state.upgrade).toMatchObject({ reason: "ConfigurationRefused" });
  expect(workloads.args(owner, "etcd")).not.toContain("--no-such-flag=1");
  expect((await pass(bad)).upgrade?.message).toContain("the data does not fit");
  expect(workloads.news()).toEqual([]);
});

test("an upgrade changes etcd first and then kube-apiserver, and deletes the copy of the data", async () => {
  await pass();
  workloads.news();
  for (let turn = 0; turn < 5; turn++) await pass({ version: NEW });
  const events = workloads.news();
  expect(events.slice(0, 4)).toEqual(["start etcd-next", "remove etcd-next", "stop etcd", "start etcd"]);
  expect(events.indexOf("start kube-apiserver-next")).toBeGreaterThan(3);
  expect(commandOf("etcd")).toBe(`/programs/${NEW}/etcd`);
  expect(commandOf("kube-apiserver")).toBe(`/programs/${NEW}/kube-apiserver`);
  expect(await readdir(join(root, owner, "etcd"))).toEqual(["data"]);
});

test("rolls back program and data of an etcd version that does not start with the data, and reports why", async () => {
  await pass();
  const data = join(root, owner, "etcd/data/member");
  await writeFile(join(data, "version"), OLD);
  workloads.news();
  dooms("cannot read this", ({ id, command }) => id.name === "etcd" && command.includes(NEW));
  const state = await pass({ version: NEW });
  expect(state.apiReady).toBe(true);
  expect(state.upgrade).toMatchObject({ reason: "UpgradeFailed" });
  expect(state.upgrade?.message).toMatch(
    /etcd of v1\.34\.4 does not become ready: .*cannot read this; v1\.33\.9 keeps serving/,
  );
  expect(commandOf("etcd")).toBe(`/programs/${OLD}/etcd`);
  expect(await readFile(join(data, "version"), "utf8"), "what the new one wrote is removed").toBe(OLD);
  expect(workloads.news()).not.toContain("start kube-apiserver-next");
  await pass({ version: NEW });
  expect(workloads.news(), "not retried automatically").toEqual([]);
  await pass();
  workloads.fate = () => ({ phase: "Ready", restarts: 0 });
  for (let turn = 0; turn < 5; turn++) await pass({ version: NEW });
  expect(commandOf("kube-apiserver"), "retried on request").toBe(`/programs/${NEW}/kube-apiserver`);
});

test.skipIf(process.getuid?.() !== 0)(
  "takes ownership of the data from etcd's user before root copies it",
  async () => {
    await pass();
    const data = join(root, owner, "etcd/data");
    for (const folder of [data, join(data, "member")]) {
      await chown(folder, 1_999_000_003, 1_999_000_003);
      await chmod(folder, 0o777);
    }
    dooms("cannot read this", ({ id, command }) => id.name === "etcd" && command.includes(NEW));
    const stop = workloads.stop.bind(workloads);
    let stops = 0;
    workloads.stop = async (id) => {
      // The second stop is for the rollback: the copy exists.
      if (id.name === "etcd" && ++stops === 2)
        for (const folder of [data, join(data, "member")])
          expect(await stat(folder).then(({ uid, mode }) => [uid, mode & 0o777])).toEqual([0, 0o700]);
      await stop(id);
    };
    await pass({ version: NEW });
    expect(stops).toBeGreaterThanOrEqual(2);
  },
);

test("a manager that is killed during a rollback of data continues with the copy", async () => {
  await pass();
  const dir = join(root, owner, "etcd");
  await writeFile(join(dir, "data/member/version"), OLD);
  dooms("cannot read this", ({ id, command }) => id.name === "etcd" && command.includes(NEW));
  const stop = workloads.stop.bind(workloads);
  let stops = 0;
  workloads.stop = async (id) => {
    await stop(id);
    if (++stops !== 2) return;
    // The data is already moved away, and the copy is not yet in place.
    await rm(join(dir, "data"), { recursive: true });
    throw new Error("killed");
  };
  await expect(pass({ version: NEW })).rejects.toThrow("killed");
  expect(await readdir(dir)).toEqual(["data.before"]);
  const state = await pass({ version: NEW });
  expect(state.upgrade?.reason).toBe("UpgradeFailed");
  expect(await readFile(join(dir, "data/member/version"), "utf8")).toBe(OLD);
  expect(commandOf("etcd")).toBe(`/programs/${OLD}/etcd`);
});

test("rolls back several members one by one, with their data", async () => {
  const three = { etcd: { replicas: 3 } };
  await pass(three);
  workloads.news();
  dooms("no", ({ id, command }) => id.name === "etcd-1" && command.includes(NEW));
  for (let turn = 0; turn < 4; turn++) await pass({ ...three, version: NEW });
  expect(["etcd", "etcd-1", "etcd-2"].map(commandOf)).toEqual(Array(3).fill(`/programs/${OLD}/etcd`));
  expect(workloads.news().filter((event) => event.startsWith("stop"))).toEqual([]);
});

test("does not start an upgrade that nodes do not support; does not check one that has started again", async () => {
  await pass();
  workloads.news();
  const refused = { upgradeRefusal: () => ({ reason: "KubeletTooOld", message: "n1" }) };
  const backedUp: string[] = [];
  const backUp = async (label: string): Promise<string> => String(backedUp.push(label));
  expect((await pass({ version: NEW }, { ...refused, backUp })).upgrade?.reason).toBe("KubeletTooOld");
  expect([workloads.news(), backedUp]).toEqual([[], []]);
  workloads.fate = ({ id }) => (id.name === "etcd-next" ? { phase: "Starting" } : undefined);
  await pass({ version: NEW }, { backUp });
  workloads.fate = () => ({ phase: "Ready" });
  for (let turn = 0; turn < 5; turn++) await pass({ version: NEW }, refused);
  expect(commandOf("kube-apiserver")).toBe(`/programs/${NEW}/kube-apiserver`);
  expect(backedUp).toEqual([`before-${NEW}`]);
});
