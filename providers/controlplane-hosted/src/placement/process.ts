import { access } from "node:fs/promises";
import { join } from "node:path";
import type { Clock, Random } from "@capstan/apimachinery";
import {
  bindProblem,
  type PortAllocator,
  PortTakenError,
  type ProcessWorkloads,
  type ProgramState,
  type UserIds,
} from "@capstan/workloads";
import { hostPort } from "../network.ts";
import { etcdVersionOf, restoreSnapshot, saveSnapshot } from "./etcd-tools.ts";
import type { ControlPlanePlan, Placement, PlacementState, Reservation, ReserveRequest } from "./placement.ts";
import { type PlaneRecord, readPlaneRecord, writePlaneRecord } from "./plane-record.ts";
import { ProcessInputs } from "./process-inputs.ts";
import {
  apiserverName,
  apiserverProgram,
  controllerManagerProgram,
  etcdName,
  etcdProgram,
  type ProgramInput,
  SUCCESSOR,
  schedulerProgram,
} from "./process-programs.ts";
import { decideUpgrade } from "./upgrade.ts";

/** Finds the programs of a Kubernetes version on this machine. */
export interface Binaries {
  /** The folder that holds kube-apiserver, etcd and the others, or what to do to get them. */
  find(version: string): Promise<{ dir: string } | { missing: string; cure: string }>;
}

export interface ProcessPlacementOptions {
  root: string;
  workloads: ProcessWorkloads;
  ports: PortAllocator;
  /** Gives each control plane a user id of its own; only root can. */
  userIds?: UserIds;
  binaries: Binaries;
  /** Address the API listens on and nodes use, when the HostedControlPlane does not say. */
  defaultAddress: string;
  clock: Clock;
  random: Random;
}

/** Stopping in this order lets each release what it holds in the next. */
const STOP_ORDER = ["kube-scheduler", "kube-controller-manager", "kube-apiserver", "etcd"];

/** Rank of a program when a control plane stops: lower first. */
export function stopRank(programName: string): number {
  return STOP_ORDER.findIndex((prefix) => programName === prefix || programName.startsWith(`${prefix}-`));
}

/** A problem that only a person can solve, found on the way. */
class PlacementProblem extends Error {
  readonly reason: string;

  constructor(reason: string, message: string) {
    super(message);
    this.reason = reason;
  }
}

/** A control plane as supervised processes on this machine. */
export class ProcessPlacement implements Placement {
  private readonly options: ProcessPlacementOptions;
  private readonly inputs: ProcessInputs;

  constructor(options: ProcessPlacementOptions) {
    this.options = options;
    this.inputs = new ProcessInputs(options);
  }

  async reserve(request: ReserveRequest): Promise<Reservation> {
    const record = await readPlaneRecord(this.dir(request.owner));
    if (record.objectUid !== undefined && request.objectUid !== undefined && record.objectUid !== request.objectUid) {
      if (request.discardLeftovers !== true) return leftover(this.dir(request.owner), record.objectUid);
      await this.remove(request.owner);
    }
    const bind = this.inputs.bindAddress(request.spec, request.endpoint?.host);
    let port: number;
    try {
      port = await this.inputs.apiPort(request.owner, bind, request.endpoint?.port);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      if (error instanceof PortTakenError)
        return failed(
          "PortTaken",
          `cannot listen on ${bind}: ${why}; choose another port in spec.controlPlaneEndpoint`,
        );
      return failed(
        "AddressNotUsable",
        `cannot listen on ${bind}: ${why}; set spec.expose.bindAddress to an address of this machine`,
      );
    }
    const endpoint = request.endpoint ?? { host: bind, port };
    const running = (await this.options.workloads.list(request.owner)).some(
      (state) => isApiserver(state.id.name) && state.pid !== undefined,
    );
    const problem = running ? undefined : await bindProblem(bind, endpoint.port);
    if (problem !== undefined)
      return failed(
        problem === "EADDRINUSE" ? "PortTaken" : "AddressNotUsable",
        `cannot listen on ${hostPort(bind, endpoint.port)}: ${problem}; free it, or choose another port or address in spec`,
      );
    return { type: "reserved", endpoint };
  }

  async ensure(plan: ControlPlanePlan): Promise<PlacementState> {
    try {
      return await this.run(plan);
    } catch (error) {
      const problem = asProblem(error);
      if (problem === undefined) throw error;
      const states = await this.options.workloads.list(plan.owner);
      return { components: states.map(componentState), apiReady: false, problem };
    }
  }

  async snapshot(plan: ControlPlanePlan, file: string): Promise<void> {
    const record = await readPlaneRecord(this.dir(plan.owner));
    const context = await this.inputs.context(plan, record);
    const files = join(this.dir(plan.owner), apiserverName(0), "files");
    await saveSnapshot(
      await this.binDir(record.etcdVersion ?? record.version ?? plan.version),
      {
        endpoint: context.etcd[0]?.clientUrl ?? "",
        caFile: join(files, "etcd/ca.crt"),
        certFile: join(files, "apiserver-etcd-client.crt"),
        keyFile: join(files, "apiserver-etcd-client.key"),
      },
      file,
    );
  }

  async hibernate(owner: string): Promise<PlacementState> {
    await this.stopAll(owner);
    return { components: (await this.options.workloads.list(owner)).map(componentState), apiReady: false };
  }

  async remove(owner: string): Promise<string[]> {
    await this.stopAll(owner);
    await this.options.workloads.removeOwner(owner);
    this.inputs.forget(owner);
    return [];
  }

  subscribe(listener: (owner: string) => void): () => void {
    return this.options.workloads.subscribe((id) => listener(id.owner));
  }

  private async run(plan: ControlPlanePlan): Promise<PlacementState> {
    const record = await readPlaneRecord(this.dir(plan.owner));
    if (plan.objectUid !== undefined) record.objectUid = plan.objectUid;
    record.etcdMembers ??= plan.spec.etcd?.replicas ?? 1;
    const refusal = await this.beginUpgrade(plan, record);
    const version = record.version ?? plan.version;
    const dir = await this.binDir(version);
    const replicas = Math.max(plan.spec.replicas ?? 1, 1);
    const names = Array.from({ length: replicas }, (_, index) => apiserverName(index));
    const input = await this.inputs.of(plan, record, [...names, ...(record.upgrade === undefined ? [] : [SUCCESSOR])]);

    await this.provideData(plan, record, input, dir);
    await writePlaneRecord(this.dir(plan.owner), record);
    const etcdDir = record.etcdVersion === undefined ? dir : await this.binDir(record.etcdVersion);
    const etcd = await Promise.all(
      input.context.etcd.map((member, index) =>
        this.options.workloads.ensure(etcdProgram(input, etcdDir, index, member)),
      ),
    );
    const { apiservers, upgrade, recheckMs } = await this.runApiservers(plan, record, input, names, dir);
    const ready = apiservers.filter((state) => state.phase === "Ready").length;
    if (ready > 0 && (record.version === undefined || record.hadData !== true)) {
      record.version ??= plan.version;
      record.etcdVersion ??= plan.version;
      record.hadData = true;
      await writePlaneRecord(this.dir(plan.owner), record);
    }
    const later = await this.runLater(plan, record, input, ready > 0);
    const pending = refusal ?? upgrade ?? etcdMembersProblem(plan, record);
    return {
      components: [...etcd, ...apiservers, ...later].map(componentState),
      apiReady: ready > 0,
      readyReplicas: ready,
      ...(ready > 0 ? { version: record.version ?? plan.version } : {}),
      ...(pending === undefined ? {} : { upgrade: pending }),
      recheckAtMs: Math.min(this.inputs.renewalMs(plan.owner), this.options.clock.now() + (recheckMs ?? Infinity)),
    };
  }

  /** Decides whether to leave for another version, and keeps a backup before anything changes. */
  private async beginUpgrade(
    plan: ControlPlanePlan,
    record: PlaneRecord,
  ): Promise<{ reason: string; message: string } | undefined> {
    if (record.version === undefined) return undefined;
    if (plan.version === record.version) {
      if (record.upgrade !== undefined) await this.options.workloads.remove({ owner: plan.owner, name: SUCCESSOR });
      delete record.upgrade;
      delete record.refused;
      return undefined;
    }
    if (record.refused?.version === plan.version)
      return {
        reason: "UpgradeFailed",
        message: `${record.refused.message}; ${record.version} goes on serving. Set spec.version back to it, correct what is wrong and try again`,
      };
    if (record.upgrade?.to === plan.version) return undefined;
    const found = await this.options.binaries.find(plan.version);
    if ("missing" in found)
      return {
        reason: "BinariesMissing",
        message: `${found.missing}; ${record.version} goes on serving; ${found.cure}`,
      };
    try {
      await plan.backUp?.(`before-${plan.version}`);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      return { reason: "BackupFailed", message: `No upgrade without a backup, and that failed: ${why}` };
    }
    if (record.upgrade !== undefined) await this.options.workloads.remove({ owner: plan.owner, name: SUCCESSOR });
    const before = await etcdVersionOf(await this.binDir(record.etcdVersion ?? record.version)).catch(() => undefined);
    // etcd goes first, as with kubeadm, and only if there is another one.
    if (before === undefined || (await etcdVersionOf(found.dir)) !== before) record.etcdVersion = plan.version;
    record.upgrade = { to: plan.version, stage: "trial", sinceMs: this.options.clock.now(), rolled: 0 };
    return undefined;
  }

  /** kube-apiservers, and during an upgrade their successor; takes as many steps of the upgrade as can be taken now. */
  private async runApiservers(
    plan: ControlPlanePlan,
    record: PlaneRecord,
    input: ProgramInput,
    names: string[],
    dir: string,
  ): Promise<{ apiservers: ProgramState[]; upgrade?: { reason: string; message: string }; recheckMs?: number }> {
    const { workloads, clock } = this.options;
    for (const state of await workloads.list(plan.owner))
      if (isApiserver(state.id.name) && ![...names, SUCCESSOR].includes(state.id.name))
        await workloads.remove(state.id);
    for (;;) {
      const { upgrade } = record;
      const newDir = upgrade === undefined ? dir : await this.binDir(upgrade.to);
      const rolled = upgrade?.stage === "roll" ? upgrade.rolled : 0;
      const apiservers: ProgramState[] = [];
      for (const [index, name] of names.entries()) {
        const program = apiserverProgram(input, index < rolled ? newDir : dir, name, input.context.apiPort);
        apiservers.push(await workloads.ensure(program));
      }
      if (upgrade === undefined) return { apiservers };
      const port = upgrade.stage === "trial" ? await this.inputs.trialPort(plan.owner, input) : input.context.apiPort;
      const successor = await workloads.ensure(apiserverProgram(input, newDir, SUCCESSOR, port));
      const serving = upgrade.stage === "trial" ? apiservers : [...apiservers, successor];
      const decision = decideUpgrade(upgrade, {
        successor,
        lastRolled: apiservers[rolled - 1],
        replicas: names.length,
        nowMs: clock.now(),
      });
      if (decision.type === "wait")
        return {
          apiservers: serving,
          upgrade: { reason: "Upgrading", message: decision.message },
          recheckMs: decision.recheckMs,
        };
      if (decision.type === "next") record.upgrade = decision.upgrade;
      else {
        delete record.upgrade;
        if (decision.type === "done") record.version = upgrade.to;
        else record.refused = { version: upgrade.to, message: decision.message };
      }
      await writePlaneRecord(this.dir(plan.owner), record);
      if (decision.type === "next") continue;
      await workloads.remove({ owner: plan.owner, name: SUCCESSOR });
      if (decision.type === "done") return { apiservers };
      return { apiservers, upgrade: { reason: "UpgradeFailed", message: decision.message } };
    }
  }

  /** kube-controller-manager gives up after ten seconds without an API: it starts when there is one, the scheduler too. */
  private async runLater(
    plan: ControlPlanePlan,
    record: PlaneRecord,
    input: ProgramInput,
    apiReady: boolean,
  ): Promise<ProgramState[]> {
    const { workloads } = this.options;
    const known = (await workloads.list(plan.owner)).filter((state) => stopRank(state.id.name) < 2);
    const started = known.some((state) => state.phase !== "Stopped");
    if (!apiReady) return started ? known : [];
    const dir = await this.binDir(record.version ?? plan.version);
    return [
      await workloads.ensure(controllerManagerProgram(input, dir)),
      await workloads.ensure(schedulerProgram(input, dir)),
    ];
  }

  /** Data comes from a backup where one is named, and is never silently begun anew where there was some. */
  private async provideData(
    plan: ControlPlanePlan,
    record: PlaneRecord,
    input: ProgramInput,
    dir: string,
  ): Promise<void> {
    const folders = input.context.etcd.map((_, index) => join(this.dir(plan.owner), etcdName(index), "data"));
    const lost = await Promise.all(folders.map(async (folder) => !(await exists(join(folder, "member")))));
    const allLost = lost.every(Boolean);
    const { restore } = plan;
    if (restore !== undefined && (restore.name !== record.restored || allLost)) {
      await this.stopAll(plan.owner);
      const file = await restore.snapshotFile();
      for (const [index, member] of input.context.etcd.entries())
        await restoreSnapshot(dir, file, folders[index] ?? "", member, input.context.etcd);
      record.restored = restore.name;
      record.hadData = true;
      return;
    }
    if (record.hadData === true && allLost)
      throw new PlacementProblem(
        "DataLost",
        `the data of etcd is gone from ${folders.join(", ")}; set spec.etcd.restoreFrom to a backup, or delete this control plane`,
      );
  }

  private async stopAll(owner: string): Promise<void> {
    const states = await this.options.workloads.list(owner);
    states.sort((a, b) => stopRank(a.id.name) - stopRank(b.id.name));
    for (const state of states) await this.options.workloads.stop(state.id);
  }

  private async binDir(version: string): Promise<string> {
    const found = await this.options.binaries.find(version);
    if ("missing" in found) throw new PlacementProblem("BinariesMissing", `${found.missing}; ${found.cure}`);
    return found.dir;
  }

  private dir(owner: string): string {
    return join(this.options.root, owner);
  }
}

function isApiserver(name: string): boolean {
  return name.startsWith("kube-apiserver");
}

function etcdMembersProblem(
  plan: ControlPlanePlan,
  record: PlaneRecord,
): { reason: string; message: string } | undefined {
  const wanted = plan.spec.etcd?.replicas ?? 1;
  if (wanted === record.etcdMembers) return undefined;
  return {
    reason: "EtcdMembersFixed",
    message: `etcd runs with ${record.etcdMembers} members, chosen when its data was made; for ${wanted} restore a backup into a new control plane`,
  };
}

function asProblem(error: unknown): { reason: string; message: string } | undefined {
  if (error instanceof PlacementProblem) return { reason: error.reason, message: error.message };
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === "ENOSPC" || code === "EDQUOT")
    return { reason: "DiskFull", message: `${message}; free space where the data directory lies` };
  if (code === "EACCES" || code === "EPERM" || code === "EROFS")
    return { reason: "FilesNotWritable", message: `${message}; make the data directory writable for the manager` };
  return undefined;
}

function leftover(dir: string, uid: string): Reservation {
  return failed(
    "LeftoverData",
    `${dir} holds the data of an earlier control plane of that name (uid ${uid}); choose another name, move the folder away, or set the annotation capstan.dev/leftover-data: discard to throw it away`,
  );
}

function failed(reason: string, message: string): Reservation {
  return { type: "failed", reason, message };
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

function componentState(state: ProgramState): PlacementState["components"][number] {
  return { name: state.id.name, ready: state.phase === "Ready", message: state.message, restarts: state.restarts };
}
