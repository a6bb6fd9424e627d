import type { Clock } from "@capstan/apimachinery";
import type { ProgramState } from "@capstan/workloads";
import {
  type EtcdChangeRecord,
  type EtcdChangeState,
  type EtcdDescription,
  judgeRoll,
  judgeTrial,
  sameEtcd,
} from "./change.ts";

interface Trouble {
  reason: string;
  message: string;
}

/** What a step that needs more than one reconcile is waiting for. */
export interface Waiting {
  pending: Trouble;
  recheckMs?: number;
}

/** The version and settings that the members run now, and what is pending. */
export interface EtcdChoice {
  description: EtcdDescription;
  pending?: Trouble;
  recheckMs?: number;
}

/** What a change of etcd needs from its placement. All functions must be idempotent. */
export interface EtcdGround {
  readonly record: EtcdChangeState;
  /** Writes the record; called before the action that it records. */
  save(): Promise<void>;
  /** Runs an etcd without data as described, next to the members. */
  tryOut(to: EtcdDescription): Promise<ProgramState>;
  /** Removes the trial; does nothing if there is none. */
  endTrial(): Promise<void>;
  /** Returns how often the members have restarted so far. */
  restarts(): Promise<number>;
  /** Saves the data if the new etcd may make it unreadable; returns what it waits for or why it failed, or undefined once done. */
  keep(change: EtcdChangeRecord, serves: EtcdDescription): Promise<Waiting | { failure: string } | undefined>;
  /** Deletes the saved data once the new etcd serves. */
  letGo(): Promise<void>;
  /** Restores the saved data if needed; returns what it waits for, or undefined once done. */
  putBack(change: EtcdChangeRecord, serves: EtcdDescription): Promise<Waiting | undefined>;
  /** Records that an etcd failed. */
  refuse(to: EtcdDescription, failure: string, serves: EtcdDescription): void;
  /** Name of another etcd for messages. */
  nameOf(to: EtcdDescription): string;
}

/** Replaces a running etcd only after a trial of the new one, and rolls back if the new one fails with the data. */
export class EtcdChanges {
  private readonly clock: Clock;

  constructor(clock: Clock) {
    this.clock = clock;
  }

  /** What the members run as, on the way to what is wanted. */
  async choose(ground: EtcdGround, wanted: EtcdDescription): Promise<EtcdChoice> {
    const { record } = ground;
    const back = await this.takeBack(ground);
    const serves = record.etcdServes;
    // Until it has served there is nothing to lose.
    if (serves === undefined) return { description: wanted };
    if (back !== undefined) return { description: serves, ...back };
    let change = record.etcdChange;
    // With the data in its hands it may serve already: that is found out before anything else.
    if (change?.kept === true) return { description: change.to };
    if (change !== undefined && !sameEtcd(change.to, wanted)) {
      await this.abandon(ground, change);
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
    change ??= { to: wanted, stage: "trial", sinceMs: this.clock.now() };
    record.etcdChange = change;
    const waits = (await this.onTrial(ground, change)) ?? (await this.keepData(ground, change, serves));
    return waits === undefined ? { description: change.to } : { description: serves, ...waits };
  }

  /** Looks at the members after they were told to run; another description when they must run as before. */
  async judge(ground: EtcdGround, ran: EtcdDescription, states: readonly ProgramState[]): Promise<EtcdChoice> {
    const { record } = ground;
    const change = record.etcdChange;
    if (change?.stage !== "roll") {
      if (states.length > 0 && states.every(({ phase }) => phase === "Ready")) record.etcdServes ??= ran;
      return { description: ran };
    }
    const verdict = judgeRoll(change, states, this.clock.now());
    if (verdict.type === "wait") {
      const message = `etcd restarts as ${ground.nameOf(change.to)}: ${states.find(({ phase }) => phase !== "Ready")?.message ?? ""}`;
      return { description: ran, pending: { reason: "EtcdChanging", message }, recheckMs: verdict.recheckMs };
    }
    if (verdict.type === "passed") {
      await ground.letGo();
      record.etcdServes = change.to;
      delete record.etcdChange;
      return { description: ran };
    }
    const waits = await this.giveUp(ground, change, verdict.why);
    return { description: record.etcdServes ?? ran, ...waits };
  }

  /** Ends a change that failed or is not wanted any more, with the data as it was before. After a crash it is done again. */
  async takeBack(ground: EtcdGround): Promise<Waiting | undefined> {
    const { record } = ground;
    const { etcdChange: change, etcdServes: serves } = record;
    if (change?.stage !== "back" || serves === undefined) return undefined;
    const waits = await ground.putBack(change, serves);
    if (waits !== undefined) return waits;
    if (change.failure !== undefined) ground.refuse(change.to, change.failure, serves);
    delete record.etcdChange;
    return undefined;
  }

  /** Nothing when the trial was passed. */
  private async onTrial(ground: EtcdGround, change: EtcdChangeRecord): Promise<Waiting | undefined> {
    if (change.stage !== "trial") return undefined;
    const state = await ground.tryOut(change.to);
    const verdict = judgeTrial(change, state, this.clock.now());
    if (verdict.type === "wait") {
      const message = `an etcd on trial starts as ${ground.nameOf(change.to)}; what ran before goes on serving: ${state.message}`;
      return { pending: { reason: "EtcdChanging", message }, recheckMs: verdict.recheckMs };
    }
    await ground.endTrial();
    if (verdict.type === "failed") return await this.giveUp(ground, change, verdict.why);
    change.stage = "keep";
    await ground.save();
    return undefined;
  }

  private async keepData(
    ground: EtcdGround,
    change: EtcdChangeRecord,
    serves: EtcdDescription,
  ): Promise<Waiting | undefined> {
    if (change.stage !== "keep") return undefined;
    const kept = await ground.keep(change, serves);
    if (kept !== undefined && "failure" in kept) return await this.giveUp(ground, change, kept.failure);
    if (kept !== undefined) return kept;
    change.stage = "roll";
    change.sinceMs = this.clock.now();
    change.restartsBefore = await ground.restarts();
    await ground.save();
    return undefined;
  }

  private async giveUp(ground: EtcdGround, change: EtcdChangeRecord, failure: string): Promise<Waiting> {
    change.stage = "back";
    change.sinceMs = this.clock.now();
    change.failure = failure;
    await ground.save();
    const waits = await this.takeBack(ground);
    await ground.save();
    return waits ?? { pending: refusal(failure) };
  }

  /** Something else is wanted by now. */
  private async abandon(ground: EtcdGround, change: EtcdChangeRecord): Promise<void> {
    await ground.endTrial();
    change.stage = "back";
    await ground.save();
    await this.takeBack(ground);
  }
}

function refusal(message: string): Trouble {
  return {
    reason: "ConfigurationRefused",
    message: `etcd does not become ready: ${message}; what ran before goes on serving. Correct spec.etcd`,
  };
}
