import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { seededRandom, VirtualClock } from "@capstan/apimachinery";
import { type Authorities, clusterNetwork } from "@capstan/controlplane";
import { createCertificateAuthority, createServiceAccountKey } from "@capstan/pki";
import { PortAllocator, type Program, type ProgramId, type ProgramState } from "@capstan/workloads";
import { afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { FakeEtcd } from "../../contract-suite/fake-etcd.ts";
import { FakeWorkloads } from "../../testing/fake-workloads.ts";
import type { PlacementState } from "../placement.ts";
import { ProcessPlacement } from "./process.ts";

// Each moment has a control plane of its own, whose keys take their time: 10 s on a busy machine, and the default is 20 s.
vi.setConfig({ testTimeout: 60_000 });

const owner = "default/c1";
const OLD = "v1.33.9";
const NEW = "v1.34.4";
const random = seededRandom(7);
const clock = new VirtualClock();
let root: string;
let workloads: MortalWorkloads;
let etcd: FakeEtcd;
let authorities: Authorities;

/** The manager ends right after the so-manieth thing that it did with an etcd. */
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

/** A control plane of the old version that serves, with data that says so. */
async function begin(): Promise<void> {
  root = await mkdtemp(join(tmpdir(), "capstan-etcd-killed-"));
  workloads = new MortalWorkloads(root);
  etcd = new FakeEtcd();
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

/** A pass of a manager that is killed at that moment of it; false when it came to its end before. */
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

/** Tries every moment of the pass that changes etcd, each followed by a few passes of other managers. Returns how many there were. */
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

test("an etcd that fails with the data gives it back as it was, whenever the manager is killed", async () => {
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

test("an etcd that serves keeps the data, whenever the manager is killed", async () => {
  const moments = await everyMoment(4, async (state) => {
    expect(state.upgrade).toBeUndefined();
    expect(commandOf("kube-apiserver")).toBe(`/programs/${NEW}/kube-apiserver`);
    expect(await readFile(data("member/version"), "utf8")).toBe(NEW);
    expect(await readdir(join(root, owner, "etcd"))).toEqual(["data"]);
  });
  expect(moments).toBeGreaterThan(3);
});
