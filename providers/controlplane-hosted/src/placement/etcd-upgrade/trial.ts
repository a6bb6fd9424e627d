import type { ProgramState } from "@capstan/workloads";
import { READY_WITHIN_MS } from "../upgrade.ts";
import type { EtcdGround, Waiting } from "./ground.ts";
import { type EtcdChangeRecord, recordEtcdEvent } from "./record.ts";
import { giveUp } from "./rollback.ts";

/** An etcd that exited this often by itself is not expected to become ready. */
const ENOUGH_RESTARTS = 3;

/** Whether a trial or rollout of etcd has passed, failed, or needs more time. */
export type TrialVerdict = { type: "passed" } | { type: "wait"; recheckMs: number } | { type: "failed"; why: string };

/** Tries a new etcd without data; returns undefined once that has passed. */
export async function runTrial(
  ground: EtcdGround,
  change: EtcdChangeRecord,
  now: () => number,
): Promise<Waiting | undefined> {
  if (change.stage !== "trial") return undefined;
  const state = await ground.tryOut(change.to);
  const verdict = judgeTrial(change, state, now());
  if (verdict.type === "wait") {
    const message = `Starting etcd ${ground.nameOf(change.to)} as a trial; the running etcd keeps serving: ${state.message}`;
    return { pending: { reason: "EtcdChanging", message }, recheckMs: verdict.recheckMs };
  }
  await ground.endTrial();
  if (verdict.type === "failed") return await giveUp(ground, verdict.why, now());
  recordEtcdEvent(ground.record, { type: "trialPassed" });
  await ground.save();
  return undefined;
}

/** Decides whether the trial of an etcd has passed; it fails after three restarts or four minutes. */
export function judgeTrial(change: EtcdChangeRecord, state: ProgramState, nowMs: number): TrialVerdict {
  if (state.phase === "Ready") return { type: "passed" };
  const leftMs = change.sinceMs + READY_WITHIN_MS - nowMs;
  if (state.restarts >= ENOUGH_RESTARTS || leftMs <= 0) return { type: "failed", why: state.message };
  return { type: "wait", recheckMs: leftMs };
}

/** Decides whether changed members have become ready or have failed. */
export function judgeRoll(change: EtcdChangeRecord, states: readonly ProgramState[], nowMs: number): TrialVerdict {
  const bad = states.find(({ phase }) => phase !== "Ready");
  if (bad === undefined) return { type: "passed" };
  const leftMs = change.sinceMs + READY_WITHIN_MS * states.length - nowMs;
  const ended = restartsOf(states) - (change.restartsBefore ?? 0);
  const failed = states.find(({ phase }) => phase === "Failed");
  if (failed !== undefined && ended >= ENOUGH_RESTARTS) return { type: "failed", why: failed.message };
  return leftMs <= 0 ? { type: "failed", why: bad.message } : { type: "wait", recheckMs: leftMs };
}

/** Returns the total number of restarts. */
export function restartsOf(states: readonly ProgramState[]): number {
  return states.reduce((sum, { restarts }) => sum + restarts, 0);
}
