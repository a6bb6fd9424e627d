import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Unstructured } from "@capstan/apimachinery";
import { DirectoryStore } from "@capstan/backup";
import { type Machine, Secret, secretText } from "@capstan/capi";
import { openDialGate } from "@capstan/runtime";
import { vi } from "vitest";
import { BackupOrigins } from "../backup/backup-origins.ts";
import { ControlPlaneBackup } from "../kinds/control-plane-backup.ts";
import { ControlPlaneRecovery } from "../kinds/control-plane-recovery.ts";
import { controlPlaneRecoveryController } from "../recovery/controller.ts";
import { KeptSnapshots } from "../recovery/kept-snapshots.ts";
import { FakeWays, wholeSnapshot } from "./fake-ways.ts";
import { NAMESPACE, World } from "./world.ts";

/** What fails, and how often it was tried. */
interface Faults {
  publishes: number;
  /** Why snapshots cannot be served. */
  serverProblem: string | undefined;
  /** Called before a snapshot is fetched from the store. */
  beforeFetch: (() => void) | undefined;
}

/** A control plane with three Machines whose members can be powered off, the controller of recoveries, and a folder for backups. */
export class RecoveryWorld {
  readonly world: World;
  readonly ways: FakeWays;
  readonly dir: string;
  /** Files that are served, by uid of the recovery. */
  readonly served: Map<string, string>;
  readonly faults: Faults;

  private constructor(world: World, ways: FakeWays, dir: string, served: Map<string, string>, faults: Faults) {
    this.world = world;
    this.ways = ways;
    this.dir = dir;
    this.served = served;
    this.faults = faults;
  }

  static async start(): Promise<RecoveryWorld> {
    const dir = await mkdtemp(join(tmpdir(), "capstan-recovery-"));
    const ways = new FakeWays();
    const served = new Map<string, string>();
    const faults: Faults = { publishes: 0, serverProblem: undefined, beforeFetch: undefined };
    const kept = new KeptSnapshots(join(dir, ".recoveries"));
    const observed = {
      remove: (uid: string) => kept.remove(uid),
      retain: (uids: ReadonlySet<string>) => kept.retain(uids),
      keep: (uid: string, fetch: Parameters<KeptSnapshots["keep"]>[1]) =>
        kept.keep(uid, () => {
          faults.beforeFetch?.();
          return fetch();
        }),
    };
    const server = {
      publish: (key: string, file: string) => {
        faults.publishes++;
        if (faults.serverProblem !== undefined) return Promise.reject(new Error(faults.serverProblem));
        served.set(key, file);
        return Promise.resolve({ url: "https://10.0.0.1:1234/token", caPem: "CA" });
      },
      withdraw: (key: string) => {
        served.delete(key);
        return Promise.resolve();
      },
      serves: (key: string) => served.has(key),
      keep: (keys: ReadonlySet<string>) => {
        for (const key of served.keys()) if (!keys.has(key)) served.delete(key);
        return Promise.resolve();
      },
    };
    const world = await World.start({
      kinds: [ControlPlaneBackup, ControlPlaneRecovery],
      controllers: (side) => [
        controlPlaneRecoveryController({
          ways,
          side,
          place: { dir, gate: openDialGate() },
          origins: new BackupOrigins(),
          server,
          kept: observed,
        }),
      ],
    });
    await world.addCluster();
    await world.addPlane({ replicas: 3 });
    await world.ready(3);
    return new RecoveryWorld(world, ways, dir, served, faults);
  }

  /** A backup of the control plane in the manager's folder. */
  async addBackup(name: string, certPem?: string): Promise<void> {
    const file = join(this.dir, "snapshot.tmp");
    await writeFile(file, wholeSnapshot(`backup ${name}`));
    const ca = await this.world.user.get(Secret, { namespace: NAMESPACE, name: "c1-ca" });
    const description = JSON.stringify({ authorities: { cluster: { certPem: certPem ?? secretText(ca, "tls.crt") } } });
    await new DirectoryStore(this.dir).save(`${NAMESPACE}/c1_kubeadm`, name, file, description);
    await rm(file);
  }

  async create(spec: object = {}, name = "r1"): Promise<void> {
    const { apiVersion, kind } = ControlPlaneRecovery;
    const metadata = { namespace: NAMESPACE, name };
    await this.world.user.create({ apiVersion, kind, metadata, spec: { clusterName: "c1", ...spec } } as Unstructured);
  }

  async recovery(name = "r1"): Promise<ControlPlaneRecovery> {
    const found = await this.world.user.get(ControlPlaneRecovery, { namespace: NAMESPACE, name });
    if (found === undefined) throw new Error("the recovery is gone");
    return found;
  }

  /** Lets files be written in real time while virtual time advances slowly. */
  async eventually(check: () => Promise<boolean>, state: () => Promise<unknown>): Promise<void> {
    await vi.waitFor(
      async () => {
        await this.world.plane.settle(500);
        if (!(await check()))
          throw new Error(`${JSON.stringify(await state())} ${JSON.stringify(this.world.plane.failures.map(String))}`);
      },
      { timeout: 18_000, interval: 1 },
    );
  }

  async reached(check: (now: ControlPlaneRecovery) => boolean, name = "r1"): Promise<void> {
    const status = async () => (await this.recovery(name)).status;
    await this.eventually(async () => check(await this.recovery(name)), status);
  }

  async inPhase(phase: string, name = "r1"): Promise<void> {
    await this.reached(({ status }) => status?.phase === phase, name);
  }

  async approve(name = "r1"): Promise<void> {
    await this.world.user.patch(await this.recovery(name), { spec: { approved: true } });
  }

  /** Powers off all members but those of some Machines. */
  async powerOff(survivors: number): Promise<Machine[]> {
    const machines = await this.world.machines();
    const nodeOf = ({ status }: Machine): string => status?.nodeRef?.name ?? "";
    this.ways.members.push(...machines.map(nodeOf));
    for (const machine of machines.slice(survivors)) {
      this.ways.dead.add(nodeOf(machine));
      this.world.side.broken.add(nodeOf(machine));
    }
    return machines;
  }

  /** What the restored data contains: no member but that of the Machine that restored it. */
  restored(): void {
    const { ways, world } = this;
    ways.members.length = 0;
    ways.dead.clear();
    world.side.members.length = 0;
    world.side.broken.clear();
    world.side.leader = undefined;
  }

  async close(): Promise<void> {
    await this.world.close();
    await rm(this.dir, { recursive: true, force: true });
  }
}
