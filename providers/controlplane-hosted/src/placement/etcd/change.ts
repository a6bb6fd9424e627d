import { stableStringify } from "@capstan/apimachinery";
import type { ProgramState } from "@capstan/workloads";
import type { HostedControlPlaneSpec } from "../../kinds/hosted-control-plane.ts";
import { READY_WITHIN_MS } from "../upgrade.ts";

/** What of a spec says how etcd is started; `pods` where it runs in some. */
export type EtcdSettings = Pick<NonNullable<HostedControlPlaneSpec["etcd"]>, "extraArgs" | "quotaBytes" | "resources"> &
  Pick<HostedControlPlaneSpec, "pods">;

/** An etcd: which one, and how it is started. */
export interface EtcdDescription {
  /** The version whose programs it is of, or its image. */
  version: string;
  settings: EtcdSettings;
}

/** What is known of changes of etcd; lies beside its data. */
export interface EtcdChangeState {
  /** The etcd that has served last: what another one that fails is taken back to. */
  etcdServes?: EtcdDescription;
  etcdChange?: EtcdChangeRecord;
  /** One that did not work; not tried again by itself. */
  etcdRefused?: { to: EtcdDescription; message: string };
}

/**
 * How far a change of etcd is. First another etcd without data starts that way, beside the members (trial): if it does not become
 * ready nothing has happened. Then the data is kept as it is (keep) and the members change (roll); if they do not become ready they
 * are taken back (back).
 */
export interface EtcdChangeRecord {
  to: EtcdDescription;
  stage: "trial" | "keep" | "roll" | "back";
  /** When the stage began. */
  sinceMs: number;
  /** How often the members had ended by themselves when they began to change. */
  restartsBefore?: number;
  /** The data as it was is kept, since the other etcd may make it unreadable for this one. */
  kept?: boolean;
  /** The backup that it is kept as, where it is no copy beside it. */
  backup?: string;
  /** Members do not run with the data they have: the backup takes its place. */
  restores?: boolean;
  /** Why it is taken back, in etcd's words; nothing when it is not wanted any more. */
  failure?: string;
}

/** Ended by itself this often, it will not get better. */
const ENOUGH_RESTARTS = 3;

export function etcdSettings(spec: HostedControlPlaneSpec): EtcdSettings {
  const { extraArgs, quotaBytes, resources } = spec.etcd ?? {};
  return {
    ...(extraArgs === undefined ? {} : { extraArgs }),
    ...(quotaBytes === undefined ? {} : { quotaBytes }),
    ...(resources === undefined ? {} : { resources }),
  };
}

/** A spec whose etcd is started otherwise. */
export function withSettings(spec: HostedControlPlaneSpec, settings: EtcdSettings): HostedControlPlaneSpec {
  const { pods: _pods, etcd, ...others } = spec;
  const { extraArgs: _args, quotaBytes: _quota, resources: _resources, ...rest } = etcd ?? {};
  const { pods, ...own } = settings;
  return { ...others, ...(pods === undefined ? {} : { pods }), etcd: { ...rest, ...own } };
}

export function sameEtcd(a: EtcdDescription, b: EtcdDescription): boolean {
  return stableStringify(a) === stableStringify(b);
}

export type TrialVerdict = { type: "passed" } | { type: "wait"; recheckMs: number } | { type: "failed"; why: string };

/** Whether an etcd on trial has proved that it can be started so. */
export function judgeTrial(change: EtcdChangeRecord, state: ProgramState, nowMs: number): TrialVerdict {
  if (state.phase === "Ready") return { type: "passed" };
  const leftMs = change.sinceMs + READY_WITHIN_MS - nowMs;
  if (state.restarts >= ENOUGH_RESTARTS || leftMs <= 0) return { type: "failed", why: state.message };
  return { type: "wait", recheckMs: leftMs };
}

/** Whether members that change are ready, or never will be. */
export function judgeRoll(change: EtcdChangeRecord, states: readonly ProgramState[], nowMs: number): TrialVerdict {
  const bad = states.find(({ phase }) => phase !== "Ready");
  if (bad === undefined) return { type: "passed" };
  const leftMs = change.sinceMs + READY_WITHIN_MS * states.length - nowMs;
  const ended = restartsOf(states) - (change.restartsBefore ?? 0);
  const failed = states.find(({ phase }) => phase === "Failed");
  if (failed !== undefined && ended >= ENOUGH_RESTARTS) return { type: "failed", why: failed.message };
  return leftMs <= 0 ? { type: "failed", why: bad.message } : { type: "wait", recheckMs: leftMs };
}

export function restartsOf(states: readonly ProgramState[]): number {
  return states.reduce((sum, { restarts }) => sum + restarts, 0);
}
