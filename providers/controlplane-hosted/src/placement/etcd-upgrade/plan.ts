import type { Clock } from "@capstan/apimachinery";
import type { ProgramState } from "@capstan/workloads";
import { type EtcdDescription, sameEtcd } from "./description.ts";
import type { EtcdGround, Trouble, Waiting } from "./ground.ts";
import { recordEtcdEvent } from "./record.ts";
import { giveUp, refusal, rollBack, withdraw } from "./rollback.ts";
import { judgeRoll, runTrial } from "./trial.ts";

/** The version and settings that the members run now, and what is pending. */
export interface EtcdChoice {
  description: EtcdDescription;
  pending?: Trouble;
  recheckMs?: number;
}

/** Replaces a running etcd only after a trial of the new one, and rolls back if the new one fails with the data. */
export class EtcdChanges {
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Returns what the members run as, on the way to the requested etcd. */
  async choose(ground: EtcdGround, wanted: EtcdDescription): Promise<EtcdChoice> {
    const { record } = ground;
    const back = await rollBack(ground);
    const serves = record.etcdServes;
    // Until it has served there is nothing to lose.
    if (serves === undefined) return { description: wanted };
    if (back !== undefined) return { description: serves, ...back };
    const ongoing = record.etcdChange;
    // Once the data is saved the new etcd may already serve: that is decided before anything else changes.
    if (ongoing?.kept === true) return { description: ongoing.to };
    if (ongoing !== undefined && !sameEtcd(ongoing.to, wanted)) await withdraw(ground);
    const { etcdRefused } = record;
    if (sameEtcd(serves, wanted)) {
      recordEtcdEvent(record, { type: "refusalEnded" });
      return { description: serves };
    }
    if (etcdRefused !== undefined && sameEtcd(etcdRefused.to, wanted))
      return { description: serves, pending: refusal(etcdRefused.message) };
    recordEtcdEvent(record, { type: "requested", to: wanted, atMs: this.#clock.now() });
    const waits = await this.#advance(ground, serves);
    return waits === undefined ? { description: record.etcdChange?.to ?? wanted } : { description: serves, ...waits };
  }

  /** Judges the members after they were started; returns another description if they must run as before. */
  async judge(ground: EtcdGround, ran: EtcdDescription, states: readonly ProgramState[]): Promise<EtcdChoice> {
    const { record } = ground;
    const change = record.etcdChange;
    if (change?.stage !== "roll") {
      if (states.length > 0 && states.every(({ phase }) => phase === "Ready"))
        recordEtcdEvent(record, { type: "served", as: ran });
      return { description: ran };
    }
    const verdict = judgeRoll(change, states, this.#clock.now());
    if (verdict.type === "wait") {
      const message = `etcd restarts as ${ground.nameOf(change.to)}: ${states.find(({ phase }) => phase !== "Ready")?.message ?? ""}`;
      return { description: ran, pending: { reason: "EtcdChanging", message }, recheckMs: verdict.recheckMs };
    }
    if (verdict.type === "passed") {
      await ground.release();
      recordEtcdEvent(record, { type: "rolledOut" });
      return { description: ran };
    }
    const waits = await giveUp(ground, verdict.why, this.#clock.now());
    return { description: record.etcdServes ?? ran, ...waits };
  }

  /** Takes a change through its trial, and saves the data; returns undefined once the members may change. */
  async #advance(ground: EtcdGround, serves: EtcdDescription): Promise<Waiting | undefined> {
    const { record } = ground;
    const now = (): number => this.#clock.now();
    const tried = record.etcdChange === undefined ? undefined : await runTrial(ground, record.etcdChange, now);
    if (tried !== undefined) return tried;
    const change = record.etcdChange;
    if (change?.stage !== "keep") return undefined;
    const saved = await ground.keep(change, serves);
    if (saved.type === "failed") return await giveUp(ground, saved.why, now());
    if (saved.type === "wait") return saved.waiting;
    const { type: _type, ...what } = saved;
    recordEtcdEvent(record, { type: "dataSaved", ...what });
    recordEtcdEvent(record, { type: "rollStarted", atMs: now(), restarts: await ground.restarts() });
    await ground.save();
    return undefined;
  }
}
