import { readFileSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { gunzipSync } from "node:zlib";
import { seededRandom, VirtualClock } from "@capstan/apimachinery";
import { type Authorities, clusterNetwork } from "@capstan/controlplane";
import { createCertificateAuthority, createServiceAccountKey } from "@capstan/pki";
import { PortAllocator, type Program, type ProgramId, type ProgramState, SimulatedEtcd } from "@capstan/workloads";
import { afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { FakeWorkloads } from "../../testing/fake-workloads.ts";
import type { PlacementState } from "../placement.ts";
import type { PlaneRecord } from "../plane-record.ts";
import { ProcessPlacement } from "../process/process.ts";

// Each case creates the keys of a control plane: 10 s on a busy machine, and the default timeout is 20 s.
vi.setConfig({ testTimeout: 60_000 });

const owner = "default/c1";
const OLD = "v1.33.9";
const NEW = "v1.34.4";
const random = seededRandom(7);
const clock = new VirtualClock();
let root: string;
let workloads: MortalWorkloads;
let etcd: SimulatedEtcd;
let authorities: Authorities;

/** The manager is killed right after its n-th action on an etcd. */
class MortalWorkloads extends FakeWorkloads {
  left = Number.POSITIVE_INFINITY;

  override async ensure(program: Program): Promise<ProgramState> {
    const state = await super.ensure(program);
    this.#count(program.id);
    return state;
  }

  override async stop(id: ProgramId): Promise<void> {
    await super.stop(id);
    this.#count(id);
  }

  override async remove(id: ProgramId): Promise<void> {
    await super.remove(id);
    this.#count(id);
  }

  #count({ name }: ProgramId): void {
    if (name.startsWith("etcd")) this.left -= 1;
    if (this.left === 0) throw new Error("killed");
  }
}

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

beforeEach(begin);
afterEach(() => rm(root, { recursive: true, force: true }));

/** A serving control plane of the old version, with data marked as such. */
async function begin(): Promise<void> {
  root = await mkdtemp(join(tmpdir(), "capstan-etcd-killed-"));
  workloads = new MortalWorkloads(root);
  etcd = new SimulatedEtcd();
  await pass(OLD);
  await writeFile(data("member/version"), OLD);
}

const data = (name: string): string => join(root, owner, "etcd/data", name);
const commandOf = (name: string): string => workloads.running.get(`${owner}/${name}`)?.program.command ?? "";

/** One pass of a new manager. */
function pass(version: string): Promise<PlacementState> {
  workloads.onStart = async (program) => {
    etcd.start(program);
    // Every etcd of a version marks the data as its own.
    if (program.id.name === "etcd" && program.command.includes(NEW)) await writeFile(data("member/version"), NEW);
  };
  const placement = new ProcessPlacement({
    root,
    workloads,
    ports: new PortAllocator(root),
    binaries: { find: async (wanted) => ({ dir: `/programs/${wanted}` }) },
    defaultAddress: "127.0.0.1",
    clock,
    random,
    client: () => etcd,
  });
  return placement.ensure({
    owner,
    clusterName: "c1",
    spec: { version },
    version,
    endpoint: { host: "127.0.0.1", port: 6443 },
    network: clusterNetwork(undefined),
    authorities,
    userFiles: { apiServer: {}, controllerManager: {}, scheduler: {} },
  });
}

/** Runs a pass of a manager that is killed after that action; returns false if it finished before. */
async function killedAt(moment: number): Promise<boolean> {
  workloads.left = moment;
  const killed = await pass(NEW).then(
    () => false,
    (error: Error) => {
      if (error.message !== "killed") throw error;
      return true;
    },
  );
  workloads.left = Number.POSITIVE_INFINITY;
  return killed;
}

/** Kills the pass that changes etcd after each action, followed by passes of new managers. Returns the number of actions. */
async function everyMoment(turns: number, then: (state: PlacementState) => Promise<void>): Promise<number> {
  const { fate } = workloads;
  let tried = 0;
  while (await killedAt(tried + 1)) {
    tried += 1;
    for (let turn = 1; turn < turns; turn++) await pass(NEW);
    await then(await pass(NEW));
    await rm(root, { recursive: true, force: true });
    await begin();
    workloads.fate = fate;
  }
  return tried;
}

test("rolls back an etcd that fails with the data, whenever the manager is killed", async () => {
  workloads.fate = ({ id, command }) =>
    id.name === "etcd" && command.includes(NEW)
      ? { phase: "Failed", restarts: 3, message: "its last error: cannot read this" }
      : { phase: "Ready", restarts: 0, message: "" };
  const moments = await everyMoment(2, async (state) => {
    expect(state.upgrade?.reason).toBe("UpgradeFailed");
    expect(commandOf("etcd")).toBe(`/programs/${OLD}/etcd`);
    expect(await readFile(data("member/version"), "utf8")).toBe(OLD);
    expect(await readdir(join(root, owner, "etcd"))).toEqual(["data"]);
  });
  expect(moments).toBeGreaterThan(5);
});

test("keeps the data of an etcd that serves, whenever the manager is killed", async () => {
  const moments = await everyMoment(4, async (state) => {
    expect(state.upgrade).toBeUndefined();
    expect(commandOf("kube-apiserver")).toBe(`/programs/${NEW}/kube-apiserver`);
    expect(await readFile(data("member/version"), "utf8")).toBe(NEW);
    expect(await readdir(join(root, owner, "etcd"))).toEqual(["data"]);
  });
  expect(moments).toBeGreaterThan(3);
});

/** Upgrades of etcd that a manager of an earlier commit left unfinished. */
const unfinished = (
  JSON.parse(readFileSync(new URL("testdata/stored-records.json", import.meta.url), "utf8")) as {
    records: readonly { placement: string; stored: string }[];
  }
).records
  .filter(({ placement }) => placement === "Process")
  .map(({ stored }) => ({ stored, record: JSON.parse(stored) as PlaneRecord }))
  .filter(({ record }) => record.upgrade?.stage === "etcd" && record.members?.length === 1);

test.each(unfinished)(
  "continues an upgrade of etcd that an earlier build left: $stored",
  async ({ stored, record }) => {
    const { etcdChange: change, refused } = record;
    const fails = refused !== undefined || change?.failure !== undefined;
    if (change?.kept === true) {
      await mkdir(join(root, owner, "etcd/data.before/member"), { recursive: true });
      await writeFile(join(root, owner, "etcd/data.before/member/version"), OLD);
      await writeFile(data("member/version"), NEW);
    }
    await writeFile(join(root, owner, "plane.json"), stored);
    let state = await pass(NEW);
    for (let turn = 0; turn < 6; turn++) state = await pass(NEW);
    const after = JSON.parse(await readFile(join(root, owner, "plane.json"), "utf8")) as PlaneRecord;
    expect(after.etcdChange).toBeUndefined();
    expect(after.etcdServes?.version).toBe(fails ? OLD : NEW);
    expect(state.upgrade?.reason).toBe(fails ? "UpgradeFailed" : undefined);
    expect(commandOf("etcd")).toBe(`/programs/${fails ? OLD : NEW}/etcd`);
    expect(await readFile(data("member/version"), "utf8")).toBe(fails ? OLD : NEW);
    expect(await readdir(join(root, owner, "etcd"))).toEqual(["data"]);
  },
);

/** Folders that the manager of an earlier commit left when it was killed after each of its actions on etcd, and their authorities. */
const killed = JSON.parse(
  gunzipSync(readFileSync(new URL("testdata/killed-folders.json.gz", import.meta.url))).toString(),
) as {
  authorities: Authorities;
  folders: readonly { etcd: "serves" | "fails"; files: Record<string, string> }[];
};

test.each(killed.folders.map(({ etcd: outcome, files }, index) => ({ outcome, files, index })))(
  "takes over folder $index of a manager of an earlier commit that was killed during an upgrade to an etcd that $outcome",
  async ({ outcome, files }) => {
    const own = authorities;
    authorities = killed.authorities;
    try {
      await rm(join(root, owner), { recursive: true });
      workloads.running.clear();
      for (const [path, content] of Object.entries(files)) {
        await mkdir(dirname(join(root, path)), { recursive: true });
        await writeFile(join(root, path), content);
      }
      if (outcome === "fails")
        workloads.fate = ({ id, command }) =>
          id.name === "etcd" && command.includes(NEW)
            ? { phase: "Failed", restarts: 3, message: "its last error: cannot read this" }
            : { phase: "Ready", restarts: 0, message: "" };
      let state = await pass(NEW);
      for (let turn = 0; turn < 6; turn++) state = await pass(NEW);
      const serving = outcome === "fails" ? OLD : NEW;
      expect(state.upgrade?.reason).toBe(outcome === "fails" ? "UpgradeFailed" : undefined);
      expect(commandOf("etcd")).toBe(`/programs/${serving}/etcd`);
      expect(await readFile(data("member/version"), "utf8")).toBe(serving);
      expect(await readdir(join(root, owner, "etcd"))).toEqual(["data"]);
      // No certificate is issued again, so the CAs that they are checked with are the same bytes.
      const leaves = `${owner}/certificates.json`;
      expect(await readFile(join(root, leaves), "utf8")).toBe(files[leaves]);
    } finally {
      authorities = own;
    }
  },
);
