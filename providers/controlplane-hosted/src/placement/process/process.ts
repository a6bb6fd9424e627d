import { join } from "node:path";
import type { Clock, Random } from "@capstan/apimachinery";
import type { DialGate } from "@capstan/apimachinery/foreign";
import { hostPort, isIPAddress } from "@capstan/controlplane";
import {
  adoptRestored,
  type EtcdClient,
  type EtcdCredentials,
  type etcdTenants,
  etcdVersionOf,
  firstMembers,
  isExport,
  saveSnapshot,
} from "@capstan/etcd";
import type { Binaries } from "@capstan/kubernetes-install";
import { bindProblem, type PortAllocator, PortTakenError, type ProgramState, type UserIds } from "@capstan/workloads";
import { restoreBackup } from "../etcd/restore-backup.ts";
import { etcdSettings } from "../etcd-upgrade/description.ts";
import { recordEtcdEvent } from "../etcd-upgrade/record.ts";
import type {
  ControlPlanePlan,
  PlacedObject,
  Placement,
  PlacementState,
  Reservation,
  ReserveRequest,
} from "../placement.ts";
import { PlacementProblem } from "../placement-problem.ts";
import { type PlaneRecord, readPlaneRecord, writePlaneRecord } from "../plane-record.ts";
import { type SharedEtcdReport, SharedEtcds } from "../shared-etcd/shared-etcd.ts";
import { isApiserver, ProcessApiservers } from "./apiservers.ts";
import { type EtcdReport, type EtcdRun, ProcessEtcd } from "./etcd.ts";
import { ProcessInputs } from "./inputs.ts";
import { keepAddress, moveProblem } from "./listening.ts";
import { apiserverName, controllerManagerProgram, type ProgramInput, SUCCESSOR, schedulerProgram } from "./programs.ts";
import { TenantGate } from "./tenant-gate.ts";
import type { LocalWorkloads } from "./workloads.ts";

/** Dependencies and settings of the process placement. */
export interface ProcessPlacementOptions {
  root: string;
  workloads: LocalWorkloads;
  ports: PortAllocator;
  /** Allocates a user ID for each control plane; requires root. */
  userIds?: UserIds;
  /** Why processes cannot be isolated on this machine; if set, control planes of only one namespace are hosted. */
  oneTenant?: string;
  binaries: Binaries;
  /** Address that the API listens on and nodes use, unless the HostedControlPlane sets one. */
  defaultAddress: string;
  /** Notified of the addresses that control planes listen on, because the manager dials them on its own machine too. */
  gate?: Pick<DialGate, "serves">;
  clock: Clock;
  random: Random;
  /** Other clients of etcd, in tests. */
  client?: (credentials: EtcdCredentials) => EtcdClient;
  tenants?: typeof etcdTenants;
}

/** Stopping in this order lets each release what it holds in the next. */
const STOP_ORDER = ["kube-scheduler", "kube-controller-manager", "kube-apiserver", "etcd"];

/** Returns the position of a program in the stop order of a control plane. */
export function stopRank(programName: string): number {
  return STOP_ORDER.findIndex((prefix) => programName === prefix || programName.startsWith(`${prefix}-`));
}

/** Runs a control plane as supervised processes on this machine. */
export class ProcessPlacement implements Placement {
  readonly #options: ProcessPlacementOptions;
  readonly #inputs: ProcessInputs;
  readonly #etcd: ProcessEtcd;
  readonly #apiservers: ProcessApiservers;
  readonly #shared: SharedEtcds;
  readonly #gate: TenantGate | undefined;

  constructor(options: ProcessPlacementOptions) {
    this.#options = options;
    this.#gate = options.oneTenant === undefined ? undefined : new TenantGate(options.root, options.oneTenant);
    this.#inputs = new ProcessInputs(options);
    this.#etcd = new ProcessEtcd(options, this.#inputs);
    const { workloads, clock } = options;
    const binDir = (version: string): Promise<string> => this.#binDir(version);
    this.#apiservers = new ProcessApiservers({ workloads, clock, inputs: this.#inputs, binDir });
    this.#shared = new SharedEtcds({ ...options, inputs: this.#inputs, binDir });
  }

  async reserve(request: ReserveRequest): Promise<Reservation> {
    const refused = await this.#gate?.admit(request.owner);
    if (refused !== undefined) return failed("TenantsNotIsolated", refused);
    const record = await readPlaneRecord(this.#dir(request.owner));
    const sharedName = request.spec.etcd?.shared?.name;
    const uid =
      record.objectUid ?? (sharedName === undefined ? undefined : await this.#shared.uidOf(sharedName, request.owner));
    if (uid !== undefined && request.objectUid !== undefined && uid !== request.objectUid) {
      if (request.discardLeftovers !== true) return leftover(this.#dir(request.owner), uid);
      await this.remove(request.owner, request);
    }
    const bind = this.#inputs.bindAddress(request.spec, request.endpoint?.host);
    let port: number;
    try {
      port = await this.#inputs.apiPort(request.owner, bind, request.endpoint?.port);
    } catch (error) {
      const problem = asProblem(error);
      if (problem !== undefined) return failed(problem.reason, problem.message);
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
    const running = (await this.#options.workloads.list(request.owner)).some(
      (state) => isApiserver(state.id.name) && state.pid !== undefined,
    );
    const listens = { host: bind, port: endpoint.port };
    const problem = running ? await moveProblem(record.listens, listens) : await bindProblem(bind, endpoint.port);
    if (problem !== undefined)
      return problem === "EADDRINUSE"
        ? failed(
            "PortTaken",
            `cannot listen on ${hostPort(bind, endpoint.port)}: ${problem}, another program uses it; stop that program, or create the control plane with another port in spec.controlPlaneEndpoint`,
          )
        : failed(
            "AddressNotUsable",
            `cannot listen on ${hostPort(bind, endpoint.port)}: ${problem}; set spec.expose.bindAddress to an address of this machine`,
          );
    // The address is free or used by our own program. The addresses of a host name may change at any time.
    if (isIPAddress(bind)) {
      await keepAddress(this.#dir(request.owner), listens);
      this.#options.gate?.serves(request.owner, listens);
    }
    return { type: "reserved", endpoint };
  }

  async ensure(plan: ControlPlanePlan): Promise<PlacementState> {
    try {
      return await this.#run(plan);
    } catch (error) {
      const problem = asProblem(error);
      if (problem === undefined) throw error;
      return { ...(await this.observe(plan.owner)), problem };
    }
  }

  async observe(owner: string): Promise<PlacementState> {
    const states = await this.#options.workloads.list(owner);
    const ready = states.filter(({ id, phase }) => isApiserver(id.name) && phase === "Ready").length;
    return { components: states.map(componentState), apiReady: ready > 0, readyReplicas: ready };
  }

  async snapshot(plan: ControlPlanePlan, file: string): Promise<void> {
    const record = await readPlaneRecord(this.#dir(plan.owner));
    if (record.shared !== undefined) return await this.#shared.export(record.shared, plan.owner, file);
    const context = await this.#inputs.context(plan, record);
    const files = join(this.#dir(plan.owner), apiserverName(0), "files");
    await saveSnapshot(
      await this.#binDir(record.etcdVersion ?? record.version ?? plan.version),
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
    await this.#stopAll(owner);
    return { components: (await this.#options.workloads.list(owner)).map(componentState), apiReady: false };
  }

  async remove(owner: string, { spec }: Pick<PlacedObject, "spec">): Promise<string[]> {
    // A damaged record must not block the deletion of a control plane.
    const record = await readPlaneRecord(this.#dir(owner)).catch((): PlaneRecord => ({}));
    const sharedName = record.shared ?? spec.etcd?.shared?.name;
    await this.#stopAll(owner);
    if (sharedName !== undefined) await this.#shared.remove(sharedName, owner);
    await this.#options.workloads.removeOwner(owner);
    await this.#options.userIds?.release(owner);
    this.#gate?.forget(owner);
    this.#inputs.forget(owner);
    this.#etcd.forget(owner);
    this.#options.gate?.serves(owner, undefined);
    return [];
  }

  subscribe(listener: (owner: string) => void): () => void {
    return this.#options.workloads.subscribe((id) => {
      for (const owner of this.#shared.concerned(id.owner)) listener(owner);
    });
  }

  async #run(plan: ControlPlanePlan): Promise<PlacementState> {
    const folder = this.#dir(plan.owner);
    const record = await readPlaneRecord(folder);
    const save = saver(folder, record);
    if (plan.objectUid !== undefined) record.objectUid = plan.objectUid;
    const sharedName = sharedEtcdOf(plan, record);
    await this.#etcd.takeBack(plan.owner, record);
    const restoring = sharedName === undefined ? await this.#restoreDue(plan, record) : false;
    if (sharedName === undefined && (restoring || record.members === undefined))
      record.members = firstMembers(plan.spec.etcd?.replicas ?? 1);
    const refusal = await this.#beginUpgrade(plan, record);
    const version = record.version ?? plan.version;
    const dir = await this.#binDir(version);
    const replicas = Math.max(plan.spec.replicas ?? 1, 1);
    const names = Array.from({ length: replicas }, (_, index) => apiserverName(index));
    const store = sharedName === undefined ? undefined : await this.#runShared(sharedName, plan, record);
    if (store !== undefined && store.access === undefined) {
      await save();
      const { states, trouble, recheckAtMs } = store;
      const etcd = trouble === undefined ? {} : { etcd: trouble };
      return { components: states.map(componentState), apiReady: false, recheckAtMs, ...etcd };
    }
    // Once it serves, a successor can be needed at any time.
    const served = [...names, ...(record.version === undefined ? [] : [SUCCESSOR])];
    const input = await this.#inputs.of(plan, record, served, store?.access);

    if (restoring) await this.#restore(plan, record, input, dir);
    await save();
    const runEtcd: Promise<EtcdRun> | EtcdRun =
      store === undefined ? this.#runEtcd(plan, record, input, save) : { states: store.states };
    const runApiservers = () => this.#apiservers.run(plan, record, input, names, folder);
    // The first start is concurrent; kube-apiserver takes longer to connect to etcd than etcd takes to start.
    const [{ states: etcd, restarting, recheckMs: etcdRecheckMs }, { apiservers, upgrade, recheckMs }] =
      record.version === undefined
        ? await Promise.all([runEtcd, runApiservers()])
        : [await runEtcd, await runApiservers()];
    const ready = apiservers.filter((state) => state.phase === "Ready").length;
    if (ready > 0 && (record.version === undefined || record.hadData !== true)) {
      record.version ??= plan.version;
      record.etcdVersion ??= plan.version;
      record.hadData = true;
    }
    const later = await this.#runLater(plan, record, input, ready > 0);
    const settled = ready > 0 && upgrade === undefined;
    const kept: Omit<EtcdReport, "states"> = store ?? (await this.#etcd.keep(plan, record, input, etcd, settled));
    await save();
    const pending = refusal ?? upgradeRefused(plan, record) ?? upgrade ?? kept.pending ?? restarting;
    const { clock } = this.#options;
    const soonMs = Math.min(recheckMs ?? Infinity, etcdRecheckMs ?? Infinity);
    return {
      components: [...etcd, ...apiservers, ...later].map(componentState),
      apiReady: ready > 0,
      readyReplicas: ready,
      ...(ready > 0 ? { version: record.version ?? plan.version } : {}),
      upgrade: pending,
      etcd: kept.trouble,
      recheckAtMs: Math.min(this.#inputs.renewalMs(plan.owner), clock.now() + soonMs, kept.recheckAtMs),
    };
  }

  /** etcd first: kube-apiservers follow an upgrade only when it serves, and not at all if it was rolled back. */
  async #runEtcd(
    plan: ControlPlanePlan,
    record: PlaneRecord,
    input: ProgramInput,
    save: () => Promise<void>,
  ): Promise<EtcdRun> {
    const version = record.etcdVersion ?? record.version ?? plan.version;
    const binDir = (of: string): Promise<string> => this.#binDir(of);
    const ran = await this.#etcd.run(plan, version, { record, input, binDir, save });
    const { upgrade } = record;
    if (upgrade?.stage !== "etcd") return ran;
    if (record.refused?.version === upgrade.to) delete record.upgrade;
    else if (record.etcdServes?.version === version)
      record.upgrade = { ...upgrade, stage: "trial", sinceMs: this.#options.clock.now() };
    return ran;
  }

  /** The part of a shared etcd that belongs to this control plane; a backup is restored to it while nothing uses it. */
  async #runShared(name: string, plan: ControlPlanePlan, record: PlaneRecord): Promise<SharedEtcdReport> {
    record.shared = name;
    record.members = [];
    const due = plan.restore !== undefined && plan.restore.name !== record.restored;
    const known = await this.#shared.uidOf(name, plan.owner);
    const version = record.version ?? plan.version;
    const store = await this.#shared.ensure(name, plan, version, record.hadData === true);
    // A new shared etcd has none of the data that was restored before.
    const lost = plan.restore !== undefined && record.hadData === true && known === undefined;
    if (plan.restore === undefined || !(due || lost) || store.access === undefined) return store;
    if (!store.ready) return { ...withoutAccess(store) };
    const file = await plan.restore.snapshotFile();
    if (!(await isExport(file)))
      throw new PlacementProblem(
        "BackupNotUsable",
        `${plan.restore.name} is a snapshot of a whole etcd, which cannot be restored into a shared one; restore it into a control plane without spec.etcd.shared`,
      );
    await this.#stopAll(plan.owner);
    await this.#shared.restore(name, plan.owner, file);
    record.restored = plan.restore.name;
    record.hadData = true;
    return store;
  }

  /** Decides whether an upgrade may start, and takes a backup before anything changes. */
  async #beginUpgrade(
    plan: ControlPlanePlan,
    record: PlaneRecord,
  ): Promise<{ reason: string; message: string } | undefined> {
    if (record.version === undefined) return undefined;
    if (plan.version === record.version) {
      if (record.refused?.configuration === undefined) delete record.refused;
      if (record.upgrade === undefined || record.upgrade.configuration !== undefined) return undefined;
      await this.#options.workloads.remove({ owner: plan.owner, name: SUCCESSOR });
      // etcd does not change without need; one that already runs with the data stays, because it may have written to it.
      const { etcdServes, etcdChange } = record;
      if (record.upgrade.stage === "etcd" && etcdServes !== undefined && etcdChange?.stage !== "roll")
        record.etcdVersion = etcdServes.version;
      delete record.upgrade;
      return undefined;
    }
    const refused = upgradeRefused(plan, record);
    if (refused !== undefined) return refused;
    if (record.upgrade?.to === plan.version) return undefined;
    const found = await this.#options.binaries.find(plan.version);
    if ("missing" in found)
      return {
        reason: "BinariesMissing",
        message: `${found.missing}; ${record.version} keeps serving; ${found.cure}`,
      };
    const held = plan.upgradeRefusal?.();
    if (held !== undefined) return held;
    try {
      await plan.backUp?.(`before-${plan.version}`);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      return { reason: "BackupFailed", message: `The upgrade needs a backup first, and taking it failed: ${why}` };
    }
    if (record.upgrade !== undefined) await this.#options.workloads.remove({ owner: plan.owner, name: SUCCESSOR });
    const serves = record.etcdVersion ?? record.version;
    const before = await etcdVersionOf(await this.#binDir(serves)).catch(() => undefined);
    // etcd is upgraded first, as with kubeadm, and only if the version has another one.
    const changes = before === undefined || (await etcdVersionOf(found.dir)) !== before;
    if (changes) {
      recordEtcdEvent(record, { type: "served", as: { version: serves, settings: etcdSettings(plan.spec) } });
      record.etcdVersion = plan.version;
    }
    const stage = changes && record.shared === undefined ? "etcd" : "trial";
    record.upgrade = { to: plan.version, stage, sinceMs: this.#options.clock.now(), rolled: 0 };
    return undefined;
  }

  /** kube-controller-manager gives up after ten seconds without an API: so it and kube-scheduler start after it. */
  async #runLater(
    plan: ControlPlanePlan,
    record: PlaneRecord,
    input: ProgramInput,
    apiReady: boolean,
  ): Promise<ProgramState[]> {
    const { workloads } = this.#options;
    const known = (await workloads.list(plan.owner)).filter((state) => stopRank(state.id.name) < 2);
    const started = known.some((state) => state.phase !== "Stopped");
    if (!apiReady) return started ? known : [];
    const dir = await this.#binDir(record.version ?? plan.version);
    return [
      await workloads.ensure(controllerManagerProgram(input, dir)),
      await workloads.ensure(schedulerProgram(input, dir)),
    ];
  }

  /** Whether to restore data from a backup now. Lost data is never silently replaced with empty data. */
  async #restoreDue(plan: ControlPlanePlan, record: PlaneRecord): Promise<boolean> {
    const indexes = (record.members ?? []).map(({ index }) => index);
    const present = await Promise.all(indexes.map((index) => this.#etcd.hasData(plan.owner, index)));
    const allLost = !present.includes(true);
    if (plan.restore !== undefined && (plan.restore.name !== record.restored || allLost)) return true;
    if (record.hadData !== true || !allLost) return false;
    const folders = indexes.map((index) => this.#etcd.dataDir(plan.owner, index));
    throw new PlacementProblem(
      "DataLost",
      `the data of etcd is missing from ${folders.join(", ")}; refusing to start from an empty data directory: set spec.etcd.restoreFrom to a backup, or delete this control plane`,
    );
  }

  async #restore(plan: ControlPlanePlan, record: PlaneRecord, input: ProgramInput, dir: string): Promise<void> {
    const { restore } = plan;
    if (restore === undefined) return;
    const file = await restore.snapshotFile();
    if (await isExport(file))
      throw new PlacementProblem(
        "BackupNotUsable",
        `${restore.name} is a backup of a part of a shared etcd; restore it into a control plane with spec.etcd.shared`,
      );
    const members = input.context.etcd.map((member, index) => ({
      member,
      dataDir: this.#etcd.dataDir(plan.owner, index),
    }));
    for (const { member, dataDir } of members)
      await restoreBackup(dir, file, dataDir, member, input.context.etcd, restore.name);
    await this.#stopAll(plan.owner);
    for (const { dataDir } of members) await adoptRestored(dataDir);
    // Earlier changes of etcd do not apply to restored data.
    recordEtcdEvent(record, { type: "dataReplaced" });
    record.restored = restore.name;
    record.hadData = true;
  }

  async #stopAll(owner: string): Promise<void> {
    const states = await this.#options.workloads.list(owner);
    states.sort((a, b) => stopRank(a.id.name) - stopRank(b.id.name));
    for (const state of states) await this.#options.workloads.stop(state.id);
  }

  async #binDir(version: string): Promise<string> {
    const found = await this.#options.binaries.find(version);
    if ("missing" in found) throw new PlacementProblem("BinariesMissing", `${found.missing}; ${found.cure}`);
    return found.dir;
  }

  #dir(owner: string): string {
    return join(this.#options.root, owner);
  }
}

/** The shared etcd that holds the data, if one does; data is never moved. */
function sharedEtcdOf(plan: ControlPlanePlan, record: PlaneRecord): string | undefined {
  const wanted = plan.spec.etcd?.shared?.name;
  if (record.version === undefined || record.shared === wanted) return wanted;
  const where = record.shared === undefined ? "an etcd of its own" : `the shared etcd ${record.shared}`;
  throw new PlacementProblem(
    "EtcdFixed",
    `the data is stored in ${where} and cannot be moved; set spec.etcd.shared back, or create a new control plane`,
  );
}

/** A failed upgrade is not retried automatically. */
function upgradeRefused(plan: ControlPlanePlan, { refused, version }: PlaneRecord): PlacementState["upgrade"] {
  if (refused === undefined || refused.configuration !== undefined || refused.version !== plan.version)
    return undefined;
  return {
    reason: "UpgradeFailed",
    message: `${refused.message}; ${version} keeps serving. Set spec.version back to it, correct what is wrong and try again`,
  };
}

/** Nothing may use the data before the backup is restored. */
function withoutAccess({ access: _access, ...report }: SharedEtcdReport): SharedEtcdReport {
  return report;
}

/** Writes the record if it differs from the last one read or written: a steady control plane writes nothing. */
function saver(folder: string, record: PlaneRecord): () => Promise<void> {
  let saved = JSON.stringify(record);
  return async () => {
    const now = JSON.stringify(record);
    if (now === saved) return;
    await writePlaneRecord(folder, record);
    saved = now;
  };
}

function asProblem(error: unknown): { reason: string; message: string } | undefined {
  if (error instanceof PlacementProblem) return { reason: error.reason, message: error.message };
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === "ENOSPC" || code === "EDQUOT")
    return { reason: "DiskFull", message: `${message}; free space in the file system of the data directory` };
  if (code === "EACCES" || code === "EPERM" || code === "EROFS")
    return { reason: "FilesNotWritable", message: `${message}; make the data directory writable for the manager` };
  return undefined;
}

function leftover(dir: string, uid: string): Reservation {
  return failed(
    "LeftoverData",
    `${dir} holds the data of an earlier control plane of that name (uid ${uid}); choose another name, move the folder away, or set the annotation capstan.dev/leftover-data: discard to delete it`,
  );
}

function failed(reason: string, message: string): Reservation {
  return { type: "failed", reason, message };
}

function componentState(state: ProgramState): PlacementState["components"][number] {
  return { name: state.id.name, ready: state.phase === "Ready", message: state.message, restarts: state.restarts };
}
