import { stableStringify } from "@capstan/apimachinery";
import type { ProgramState } from "@capstan/workloads";
import type { HostedControlPlaneSpec } from "../../kinds/hosted-control-plane.ts";
import { READY_WITHIN_MS } from "../upgrade.ts";

/** The part of the spec that determines how etcd is started; `pods` only if it runs in pods. */
export type EtcdSettings = Pick<NonNullable<HostedControlPlaneSpec["etcd"]>, "extraArgs" | "quotaBytes" | "resources"> &
  Pick<HostedControlPlaneSpec, "pods">;

/** The version and settings of an etcd. */
export interface EtcdDescription {
  /** The Kubernetes version whose etcd binary it runs, or its image. */
  version: string;
  settings: EtcdSettings;
}

/** Persistent state of changes to etcd, stored next to its data. */
export interface EtcdChangeState {
  /** The etcd that served last, to which a failed change is rolled back. */
  etcdServes?: EtcdDescription;
  etcdChange?: EtcdChangeRecord;
  /** An etcd that failed; it is not retried automatically. */
  etcdRefused?: { to: EtcdDescription; message: string };
}

/**
 * Progress of a change to etcd. An etcd without data is tried next to the members (trial); if it is ready, the data is saved (keep) and the
 * members change (roll); if they fail, they are rolled back (back).
 */
export interface EtcdChangeRecord {
  to: EtcdDescription;
  stage: "trial" | "keep" | "roll" | "back";
  /** When the stage began. */
  sinceMs: number;
  /** Restarts of the members before they began to change. */
  restartsBefore?: number;
  /** Whether the data was saved, because the new etcd may make it unreadable for the old one. */
  kept?: boolean;
  /** The name of the backup that holds the saved data, if it is not a copy next to it. */
  backup?: string;
  /** Whether the data is being replaced with the backup, because members do not run with it. */
  restores?: boolean;
  /** Why it is rolled back, as reported by etcd; undefined if the change is no longer requested. */
  failure?: string;
}

/** Ended by itself this often, it will not get better. */
const ENOUGH_RESTARTS = 3;

/** Returns the settings of etcd in a spec. */
export function etcdSettings(spec: HostedControlPlaneSpec): EtcdSettings {
  const { extraArgs, quotaBytes, resources } = spec.etcd ?? {};
  return {
    ...(extraArgs === undefined ? {} : { extraArgs }),
    ...(quotaBytes === undefined ? {} : { quotaBytes }),
    ...(resources === undefined ? {} : { resources }),
  };
}

/** Returns the spec with other settings of etcd. */
export function withSettings(spec: HostedControlPlaneSpec, settings: EtcdSettings): HostedControlPlaneSpec {
  const { pods: _pods, etcd, ...others } = spec;
  const { extraArgs: _args, quotaBytes: _quota, resources: _resources, ...rest } = etcd ?? {};
  const { pods, ...own } = settings;
  return { ...others, ...(pods === undefined ? {} : { pods }), etcd: { ...rest, ...own } };
}

/** Reports whether two etcds have the same version and settings. */
export function sameEtcd(a: EtcdDescription, b: EtcdDescription): boolean {
  return stableStringify(a) === stableStringify(b);
}

/** Whether a trial or rollout of etcd has passed, failed, or needs more time. */
export type TrialVerdict = { type: "passed" } | { type: "wait"; recheckMs: number } | { type: "failed"; why: string };

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
