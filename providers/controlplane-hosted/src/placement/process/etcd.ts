import { access } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "@capstan/apimachinery";
import {
  damageOf,
  describeStep,
  type EtcdClient,
  type EtcdCredentials,
  type EtcdMember,
  type EtcdMemberRecord,
  etcdClient,
  type MembershipStep,
  type MemberView,
  membershipStep,
} from "@capstan/etcd";
import { removeReclaimed } from "@capstan/os";
import type { ProgramState } from "@capstan/workloads";
import { membershipWait } from "../etcd/membership-wait.ts";
import { EtcdSpaceKeeper } from "../etcd/space-keeper.ts";
import { type EtcdDescription, etcdSettings } from "../etcd-upgrade/description.ts";
import { EtcdChanges } from "../etcd-upgrade/plan.ts";
import { described, ETCD_TRIAL, type EtcdChangeScope, ProcessGround } from "../etcd-upgrade/process-ground.ts";
import { rollBack } from "../etcd-upgrade/rollback.ts";
import type { ControlPlanePlan } from "../placement.ts";
import type { PlaneRecord } from "../plane-record.ts";
import type { ProcessInputs } from "./inputs.ts";
import { etcdName, etcdProgram, type ProgramInput } from "./programs.ts";
import type { LocalWorkloads } from "./workloads.ts";

/** A step that could not be taken, or waits for a member to catch up, is retried after this time. */
const STEP_AGAIN_MS = 1000;

/** Dependencies of ProcessEtcd. */
export interface ProcessEtcdOptions {
  root: string;
  workloads: LocalWorkloads;
  clock: Clock;
  /** Another client, in tests. */
  client?: (credentials: EtcdCredentials) => EtcdClient;
}

interface Trouble {
  reason: string;
  message: string;
}

/** State of etcd's members; `restarting` is set while they do not run as desired. */
export interface EtcdRun {
  states: ProgramState[];
  restarting?: Trouble;
  recheckMs?: number;
}

/** State, problems and pending changes of etcd as processes. */
export interface EtcdReport {
  states: ProgramState[];
  /** A problem of etcd although its members respond. */
  trouble?: Trouble;
  /** Set while its members are not the desired ones. */
  pending?: Trouble;
  recheckAtMs: number;
}

/** Manages etcd as processes: runs, adds, removes and replaces members, and keeps them from running out of space. */
export class ProcessEtcd {
  readonly #options: ProcessEtcdOptions;
  readonly #inputs: ProcessInputs;
  readonly #space = new EtcdSpaceKeeper();
  readonly #changes: EtcdChanges;

  constructor(options: ProcessEtcdOptions, inputs: ProcessInputs) {
    this.#options = options;
    this.#inputs = inputs;
    this.#changes = new EtcdChanges(options.clock);
  }

  /** Runs the members as requested, or as before while that is not proven or does not work. */
  async run(plan: ControlPlanePlan, version: string, scope: Omit<EtcdChangeScope, "owner">): Promise<EtcdRun> {
    const all = { ...scope, owner: plan.owner };
    const ground = this.#ground(plan.owner, scope.record, all);
    const choice = await this.#changes.choose(ground, { version, settings: etcdSettings(plan.spec) });
    const ran = await this.#runAs(plan, all, choice.description);
    const after = await this.#changes.judge(ground, choice.description, ran.states);
    const last = after.description === choice.description ? ran : await this.#runAs(plan, all, after.description);
    const restarting = after.pending ?? choice.pending ?? last.restarting;
    const recheckMs = after.recheckMs ?? choice.recheckMs;
    return {
      states: last.states,
      restarting,
      recheckMs,
    };
  }

  /** Completes a pending rollback before anything reads the data. */
  async takeBack(owner: string, record: PlaneRecord): Promise<void> {
    await rollBack(this.#ground(owner, record));
  }

  #ground(owner: string, record: PlaneRecord, scope?: EtcdChangeScope): ProcessGround {
    return new ProcessGround({ ...this.#options, inputs: this.#inputs }, owner, record, scope);
  }

  /** Runs every member that has data or may start empty; a changed specification restarts one at a time. */
  async #runAs(plan: ControlPlanePlan, scope: EtcdChangeScope, as: EtcdDescription): Promise<EtcdRun> {
    const { workloads } = this.#options;
    const { record } = scope;
    const input = described(scope.input, as);
    const dir = await scope.binDir(as.version);
    const members = await this.#inputs.members(plan.owner, record.members ?? []);
    const known = new Map((await workloads.list(plan.owner)).map((state) => [state.id.name, state]));
    const wanted = new Set((record.members ?? []).map(({ index }) => etcdName(index)));
    if (record.etcdChange?.stage === "trial") known.delete(ETCD_TRIAL);
    for (const { id } of known.values())
      if (isEtcd(id.name) && !wanted.has(id.name)) {
        await workloads.remove(id);
        known.delete(id.name);
      }
    const states: ProgramState[] = [];
    let busy = false;
    const waiting: string[] = [];
    for (const memberRecord of record.members ?? []) {
      const member = members.get(memberRecord.index);
      const hasData = await this.hasData(plan.owner, memberRecord.index);
      if (hasData) memberRecord.started = true;
      if (member === undefined) continue;
      const program = etcdProgram(input, dir, memberRecord.index, member, memberRecord.started);
      const old = known.get(program.id.name);
      // A member that lost its data must not vote before it was removed and added again.
      const lost = memberRecord.started === true && !hasData;
      const others = [...known.values()].filter(({ id }) => isEtcd(id.name) && id.name !== program.id.name);
      const othersReady = !busy && others.every(({ phase }) => phase === "Ready");
      const waits = !othersReady && (await workloads.matches(program)) === false;
      if (members.size > 1 && (lost || waits)) {
        if (waits) waiting.push(program.id.name);
        const message = lost
          ? "its data is missing; it will be added again once the others are ready"
          : "not started yet";
        states.push(old ?? { id: program.id, phase: "Stopped", restarts: 0, since: 0, message });
        continue;
      }
      const state = await workloads.ensure(program);
      if (state.phase === "Ready") memberRecord.started = true;
      else busy = true;
      states.push(state);
    }
    if (waiting.length === 0) return { states };
    const message = `${waiting.join(", ")} will restart once all other members of etcd are ready`;
    return { states, restarting: { reason: "EtcdRestarting", message } };
  }

  /** Takes one step towards the requested healthy members. `settled`: kube-apiservers run with the current list of members. */
  async keep(
    plan: ControlPlanePlan,
    record: PlaneRecord,
    input: ProgramInput,
    states: ProgramState[],
    settled: boolean,
  ): Promise<EtcdReport> {
    const nowMs = this.#options.clock.now();
    const views = await this.#views(plan.owner, record, states);
    const wanted = plan.spec.etcd?.replicas ?? 1;
    const step = membershipStep(views, wanted, settled, nowMs);
    const report: EtcdReport = { states, recheckAtMs: Infinity };
    if (step.type === "wait") report.pending = membershipWait(step);
    else if (step.type !== "none") {
      report.pending = { reason: "EtcdMembersChanging", message: describeStep(step, wanted) };
      try {
        await this.#take(step, plan.owner, record, input, views);
        report.recheckAtMs = nowMs;
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error);
        report.pending.message += `: ${why}`;
        report.recheckAtMs = nowMs + STEP_AGAIN_MS;
      }
    }
    if (step.type !== "none" || views.some(({ ready }) => !ready)) return this.#withSpace(plan.owner, report);
    await this.#keepSpace(plan, record, input, nowMs);
    return this.#withSpace(plan.owner, report);
  }

  forget(owner: string): void {
    this.#space.forget(owner);
  }

  /** Returns the data directory of a member. */
  dataDir(owner: string, index: number): string {
    return join(this.#options.root, owner, etcdName(index), "data");
  }

  async hasData(owner: string, index: number): Promise<boolean> {
    return access(join(this.dataDir(owner, index), "member")).then(
      () => true,
      () => false,
    );
  }

  #withSpace(owner: string, report: EtcdReport): EtcdReport {
    const seen = this.#space.seen(owner);
    if (seen === undefined) return report;
    return {
      ...report,
      recheckAtMs: Math.min(report.recheckAtMs, seen.nextCheckMs),
      ...(seen.trouble === undefined ? {} : { trouble: seen.trouble }),
    };
  }

  async #views(owner: string, record: PlaneRecord, states: ProgramState[]): Promise<MemberView[]> {
    return await Promise.all(
      (record.members ?? []).map(async (member) => {
        const state = states.find(({ id }) => id.name === etcdName(member.index));
        const hasData = await this.hasData(owner, member.index);
        // A learner is never ready: whether it has caught up is determined by its promotion.
        const runs = state !== undefined && state.phase !== "Failed" && state.phase !== "Stopped" && hasData;
        return {
          record: member,
          ready: member.learner === true ? runs : state?.phase === "Ready",
          hasData,
          damage: state === undefined ? undefined : damageOf(state),
        };
      }),
    );
  }

  #client(input: ProgramInput): EtcdClient {
    const { client, clock } = this.#options;
    const make = client ?? ((credentials: EtcdCredentials) => etcdClient(credentials, clock));
    return make({
      ca: input.files["etcd/ca.crt"] ?? "",
      cert: input.files["apiserver-etcd-client.crt"] ?? "",
      key: input.files["apiserver-etcd-client.key"] ?? "",
    });
  }

  /** Every step first checks what of it is already done, because the manager may have been killed halfway. */
  async #take(
    step: Exclude<MembershipStep, { type: "none" | "wait" }>,
    owner: string,
    record: PlaneRecord,
    input: ProgramInput,
    views: readonly MemberView[],
  ): Promise<void> {
    const records = record.members ?? [];
    if (step.type === "serve") {
      for (const member of records) delete member.joining;
      return;
    }
    if (step.type === "leave") {
      for (const member of records) if (member.index >= step.index) member.leaving = true;
      return;
    }
    const added: EtcdMemberRecord = { index: step.index, began: [...records.map(({ index }) => index), step.index] };
    const members = await this.#inputs.members(owner, [...records.filter(({ index }) => index !== step.index), added]);
    const urls = members.get(step.index);
    const helper = views.find((view) => view.ready && view.record.learner !== true && view.record.index !== step.index);
    const endpoint = members.get(helper?.record.index ?? -1)?.clientUrl;
    if (urls === undefined || endpoint === undefined) throw new Error("no other member of etcd responds");
    const client = this.#client(input);
    const listed = (await client.members(endpoint)).find(({ peerUrls }) => peerUrls.includes(urls.peerUrl));
    const own = records.find(({ index }) => index === step.index);
    switch (step.type) {
      case "promote":
        if (listed?.isLearner === true) await client.promoteMember(endpoint, listed.id);
        delete own?.learner;
        return;
      case "add":
        if (listed === undefined) await client.addMember(endpoint, urls.peerUrl, true);
        record.members = [...records, { ...added, joined: true, learner: true, joining: true }];
        return;
      case "replace": {
        const began = records.map(({ index }) => index);
        await this.#options.workloads.stop({ owner, name: etcdName(step.index) });
        if (listed !== undefined && listed.name !== "") await client.removeMember(endpoint, listed.id);
        await removeReclaimed(this.dataDir(owner, step.index));
        // With a quorum of other members it may vote immediately, so that it does not reject requests of kube-apiservers.
        if (listed === undefined || listed.name !== "") await client.addMember(endpoint, urls.peerUrl, false);
        const fresh = { ...own, index: step.index, began, joined: true, replacedMs: this.#options.clock.now() };
        delete fresh.started;
        record.members = records.map((member) => (member.index === step.index ? fresh : member));
        return;
      }
      case "remove":
        if (listed !== undefined) await this.#removeMember(client, endpoint, listed.id, members);
        await this.#options.workloads.remove({ owner, name: etcdName(step.index) });
        record.members = records.filter(({ index }) => index !== step.index);
    }
  }

  /** The leader transfers leadership before it is removed: with two members it could not inform the other one afterwards. */
  async #removeMember(
    client: EtcdClient,
    endpoint: string,
    id: string,
    members: ReadonlyMap<number, EtcdMember>,
  ): Promise<void> {
    const stays = await client.status(endpoint);
    if (stays.leader === id)
      for (const { clientUrl } of members.values()) {
        const status = await client.status(clientUrl).catch(() => undefined);
        if (status?.memberId === id) await client.moveLeader(clientUrl, stays.memberId);
      }
    await client.removeMember(endpoint, id);
  }

  async #keepSpace(plan: ControlPlanePlan, record: PlaneRecord, input: ProgramInput, nowMs: number): Promise<void> {
    const members = await this.#inputs.members(plan.owner, record.members ?? []);
    const endpoints = [...members.values()].map(({ clientUrl }) => clientUrl);
    const { owner } = plan;
    await this.#space.keep({ owner, spec: plan.spec.etcd, client: this.#client(input), endpoints, nowMs, record });
  }
}

function isEtcd(name: string): boolean {
  return name === "etcd" || name.startsWith("etcd-");
}
