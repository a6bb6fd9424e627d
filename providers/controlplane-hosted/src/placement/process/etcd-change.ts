import { access, cp, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "@capstan/apimachinery";
import type { ProgramState } from "@capstan/workloads";
import {
  type EtcdChangeRecord,
  type EtcdDescription,
  judgeRoll,
  judgeTrial,
  restartsOf,
  sameEtcd,
} from "../etcd/change.ts";
import type { PlaneRecord } from "../plane-record.ts";
import type { ProcessInputs } from "./inputs.ts";
import { etcdName, etcdProgram, type ProgramInput } from "./programs.ts";
import type { LocalWorkloads } from "./workloads.ts";

/** An etcd without data, to see whether it starts as described. */
export const ETCD_TRIAL = "etcd-next";

export interface EtcdChangesOptions {
  root: string;
  workloads: LocalWorkloads;
  clock: Clock;
  inputs: ProcessInputs;
}

/** What a change works on. */
export interface EtcdChangeScope {
  owner: string;
  record: PlaneRecord;
  input: ProgramInput;
  /** Folder of a version's programs. */
  binDir(version: string): Promise<string>;
  /** Writes the record, before what it tells is done. */
  save(): Promise<void>;
}

interface Trouble {
  reason: string;
  message: string;
}

/** How the members are to run now. */
export interface EtcdChoice {
  description: EtcdDescription;
  pending?: Trouble;
  recheckMs?: number;
}

/** Another etcd takes the place of one that serves only after it was tried, and gives it back when it fails with the data. */
export class EtcdChanges {
  private readonly options: EtcdChangesOptions;

  constructor(options: EtcdChangesOptions) {
    this.options = options;
  }

  /** What the members run as, on the way to what is wanted. */
  async choose(scope: EtcdChangeScope, wanted: EtcdDescription): Promise<EtcdChoice> {
    const { record, owner } = scope;
    await this.takeBack(owner, record);
    const serves = record.etcdServes;
    // Until it has served there is nothing to lose.
    if (serves === undefined) return { description: wanted };
    let change = record.etcdChange;
    // With the data in its hands it may serve already: that is found out before anything else.
    if (change?.kept === true) return { description: change.to };
    if (change !== undefined && !sameEtcd(change.to, wanted)) {
      await this.abandon(scope, change);
      change = undefined;
    }
    if (sameEtcd(serves, wanted)) {
      delete record.etcdRefused;
      return { description: serves };
    }
    const { etcdRefused } = record;
    if (etcdRefused !== undefined && sameEtcd(etcdRefused.to, wanted))
      return { description: serves, pending: refusal(etcdRefused.message) };
    delete record.etcdRefused;
    change ??= { to: wanted, stage: "trial", sinceMs: this.options.clock.now() };
    record.etcdChange = change;
    if (change.stage === "trial") {
      const waits = await this.onTrial(scope, change);
      if (waits !== undefined) return { description: serves, ...waits };
    }
    if (!(await this.keepData(scope, change, serves))) return { description: serves };
    return { description: change.to };
  }

  /** Looks at the members after they were told to run; another description when they must run as before. */
  async judge(scope: EtcdChangeScope, ran: EtcdDescription, states: readonly ProgramState[]): Promise<EtcdChoice> {
    const { record, owner } = scope;
    const change = record.etcdChange;
    if (change === undefined || change.stage !== "roll") {
      if (states.length > 0 && states.every(({ phase }) => phase === "Ready")) record.etcdServes ??= ran;
      return { description: ran };
    }
    const verdict = judgeRoll(change, states, this.options.clock.now());
    if (verdict.type === "wait") {
      const message = `etcd restarts as ${nameOf(change.to, record)}: ${states.find(({ phase }) => phase !== "Ready")?.message ?? ""}`;
      return { description: ran, pending: { reason: "EtcdChanging", message }, recheckMs: verdict.recheckMs };
    }
    if (verdict.type === "passed") {
      await rm(this.before(owner), { recursive: true, force: true });
      record.etcdServes = change.to;
      delete record.etcdChange;
      return { description: ran };
    }
    await this.giveUp(scope, change, verdict.why);
    const message = record.etcdRefused?.message ?? record.refused?.message ?? verdict.why;
    return { description: record.etcdServes ?? ran, pending: refusal(message) };
  }

  /** Ends a change that failed or is not wanted any more, with the data as it was before. After a crash it is done again. */
  async takeBack(owner: string, record: PlaneRecord): Promise<void> {
    const change = record.etcdChange;
    const serves = record.etcdServes;
    if (change?.stage !== "back" || serves === undefined) return;
    if (change.kept === true && (await exists(this.before(owner)))) {
      await this.options.workloads.stop({ owner, name: etcdName(0) });
      await rm(this.data(owner), { recursive: true, force: true });
      await rename(this.before(owner), this.data(owner));
    }
    const { failure, to } = change;
    if (failure !== undefined && to.version !== serves.version)
      record.refused = { version: to.version, message: `etcd of ${to.version} does not become ready: ${failure}` };
    else if (failure !== undefined) record.etcdRefused = { to, message: failure };
    if (record.etcdVersion === to.version) record.etcdVersion = serves.version;
    delete record.etcdChange;
  }

  /** Nothing when the trial was passed. */
  private async onTrial(
    scope: EtcdChangeScope,
    change: EtcdChangeRecord,
  ): Promise<Omit<EtcdChoice, "description"> | undefined> {
    const { workloads, clock, inputs } = this.options;
    const { owner, record } = scope;
    const id = { owner, name: ETCD_TRIAL };
    const member = await inputs.trialMember(owner);
    const dir = await scope.binDir(change.to.version);
    const program = { ...etcdProgram(described(scope.input, change.to), dir, 0, member), id };
    const state = await workloads.ensure(program);
    const verdict = judgeTrial(change, state, clock.now());
    if (verdict.type === "wait") {
      const message = `an etcd on trial starts as ${nameOf(change.to, record)}; what ran before goes on serving: ${state.message}`;
      return { pending: { reason: "EtcdChanging", message }, recheckMs: verdict.recheckMs };
    }
    await workloads.remove(id);
    if (verdict.type === "failed") {
      await this.giveUp(scope, change, verdict.why);
      return { pending: refusal(verdict.why) };
    }
    const states = await workloads.list(owner);
    change.stage = "roll";
    change.sinceMs = clock.now();
    change.restartsBefore = restartsOf(states.filter(({ id: { name } }) => name === "etcd" || /^etcd-\d+$/.test(name)));
    await scope.save();
    return undefined;
  }

  /** Another version may write data that the old one does not read: a single member's is kept as it is. False when it cannot be. */
  private async keepData(scope: EtcdChangeScope, change: EtcdChangeRecord, serves: EtcdDescription): Promise<boolean> {
    const { owner, record } = scope;
    // Several members raise the version of their data only when all of them have changed.
    const needed = change.to.version !== serves.version && (record.members ?? []).length === 1;
    if (!needed || change.kept === true) return true;
    await this.options.workloads.stop({ owner, name: etcdName(0) });
    try {
      await rm(this.before(owner), { recursive: true, force: true });
      await cp(this.data(owner), this.before(owner), { recursive: true, errorOnExist: true });
    } catch (error) {
      await rm(this.before(owner), { recursive: true, force: true });
      const why = error instanceof Error ? error.message : String(error);
      await this.giveUp(scope, change, `its data cannot be kept before: ${why}`);
      return false;
    }
    change.kept = true;
    await scope.save();
    return true;
  }

  private async giveUp(scope: EtcdChangeScope, change: EtcdChangeRecord, failure: string): Promise<void> {
    change.stage = "back";
    change.failure = failure;
    await scope.save();
    await this.takeBack(scope.owner, scope.record);
    await scope.save();
  }

  /** Something else is wanted by now. */
  private async abandon(scope: EtcdChangeScope, change: EtcdChangeRecord): Promise<void> {
    const { owner, record } = scope;
    const { etcdVersion } = record;
    await this.options.workloads.remove({ owner, name: ETCD_TRIAL });
    change.stage = "back";
    await scope.save();
    await this.takeBack(owner, record);
    // Which version is wanted is not decided here.
    if (etcdVersion !== undefined) record.etcdVersion = etcdVersion;
  }

  private data(owner: string): string {
    return join(this.options.root, owner, etcdName(0), "data");
  }

  private before(owner: string): string {
    return `${this.data(owner)}.before`;
  }
}

/** The input of programs with another description of etcd than that of the spec. */
export function described(input: ProgramInput, { settings }: EtcdDescription): ProgramInput {
  const { extraArgs: _args, quotaBytes: _quota, resources: _resources, ...rest } = input.plan.spec.etcd ?? {};
  const spec = { ...input.plan.spec, etcd: { ...rest, ...settings } };
  return { ...input, plan: { ...input.plan, spec }, context: { ...input.context, spec } };
}

function nameOf(to: EtcdDescription, { etcdServes }: PlaneRecord): string {
  return to.version === etcdServes?.version ? "spec.etcd has it now" : `of ${to.version}`;
}

function refusal(message: string): Trouble {
  return {
    reason: "ConfigurationRefused",
    message: `etcd does not become ready: ${message}; what ran before goes on serving. Correct spec.etcd`,
  };
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
