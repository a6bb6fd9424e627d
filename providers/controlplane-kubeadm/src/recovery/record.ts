import { createHash } from "node:crypto";
import { PLAN_DIGEST_LENGTH, type RecoveryPlan } from "../kinds/control-plane-recovery.ts";

/** How far a recovery is. Every state is stored before its work begins, and its work can be repeated. */
export type RecoveryRecord =
  | { readonly phase: "Planning"; readonly plan?: RecoveryPlan | undefined }
  | { readonly phase: "WaitingForApproval"; readonly plan: RecoveryPlan }
  | { readonly phase: "Saving"; readonly plan: RecoveryPlan }
  | { readonly phase: "Verifying"; readonly plan: RecoveryPlan; readonly savedBackup: string }
  | (Verified & { readonly phase: "Removing" })
  | (Verified & { readonly phase: "Starting"; readonly machine?: string | undefined })
  | (Verified & { readonly phase: "Scaling"; readonly machine: string })
  | (Verified & { readonly phase: "Done"; readonly machine: string })
  | { readonly phase: "Refused"; readonly plan?: RecoveryPlan | undefined };

/** What is known once the data is on the manager's disk, and Machines may be deleted. */
interface Verified {
  readonly plan: RecoveryPlan;
  readonly savedBackup: string;
  /** SHA-256 of the snapshot. */
  readonly digest?: string | undefined;
}

/** A member of etcd, as far as it answers. */
export interface SurveyedMember {
  readonly machine: string;
  /** Undefined if it does not answer. */
  readonly answer:
    | {
        readonly revision: string;
        readonly hasLeader: boolean;
        /** How many voting members it knows, whether or not they have a Machine. */
        readonly voters: number;
        /** Whether it votes: a learner does not. */
        readonly votes: boolean;
      }
    | undefined;
}

/** A backup in the store. */
export interface SurveyedBackup {
  readonly name: string;
  readonly timeMs: number;
  /** Why it is one of another cluster. */
  readonly foreign?: string | undefined;
}

/** What a recovery finds. */
export interface Survey {
  readonly nowMs: number;
  readonly members: readonly SurveyedMember[];
  readonly backups: readonly SurveyedBackup[];
}

/** What a person wants. */
export interface Wish {
  readonly backup: string | undefined;
}

/** The approval of a person. */
export interface Approval {
  readonly approved: boolean;
  /** Digest of the plan that it is meant for, if it says so. */
  readonly approvedPlan: string | undefined;
}

/** Decides what a recovery would do; a reason if there is nothing to recover, or nothing to recover from. */
export function planRecovery(survey: Survey, { backup }: Wish): RecoveryPlan | { readonly refused: string } {
  const { members, backups, nowMs } = survey;
  const alive = members.filter(({ answer }) => answer !== undefined);
  const lost = members.filter(({ answer }) => answer === undefined);
  const sides = { alive: alive.map(({ machine }) => machine), lost: lost.map(({ machine }) => machine) };
  const kept = backup === undefined ? quorumKept(alive) : undefined;
  if (kept !== undefined)
    return {
      refused: `${kept}: nothing has to be recovered. To go back to a backup nevertheless, name it in spec.backup`,
    };
  const wanted =
    backup === undefined
      ? backups.findLast(({ foreign }) => foreign === undefined)
      : backups.find(({ name }) => name === backup);
  if (backup !== undefined && wanted === undefined) {
    const choice = backups.length === 0 ? "there are none" : `there are ${namesOf(backups)}`;
    return { refused: `spec.backup: there is no backup ${backup}; ${choice}` };
  }
  if (wanted?.foreign !== undefined) return { refused: anotherCluster(wanted.name, wanted.foreign) };
  const newest = backup === undefined ? newestOf(alive) : undefined;
  if (newest !== undefined)
    return withDigest({
      source: "Member",
      member: newest.machine,
      revision: newest.answer?.revision ?? "",
      dataFrom: time(nowMs),
      ...sides,
    });
  if (wanted === undefined)
    return {
      refused: `No member of etcd answers (${sides.lost.join(", ") || "there are no Machines"}), and there is no backup${backups.length === 0 ? "" : ` of this cluster (${namesOf(backups)} belong to another one)`}. Power on a Machine that had a member, or copy a backup into the store`,
    };
  return withDigest({ source: "Backup", backup: wanted.name, dataFrom: time(wanted.timeMs), ...sides });
}

/** The time at which a member was asked is no part of what a person approves. */
function withDigest(plan: RecoveryPlan): RecoveryPlan {
  const { source, member, backup, revision, alive, lost } = plan;
  const text = JSON.stringify([source, member, backup, revision, alive, lost]);
  return { ...plan, digest: createHash("sha256").update(text).digest("hex").slice(0, PLAN_DIGEST_LENGTH) };
}

/** Why etcd has its quorum, or gets it back without help: restoring would discard writes that are not lost. */
function quorumKept(alive: readonly SurveyedMember[]): string | undefined {
  if (alive.some(({ answer }) => answer?.hasLeader === true)) return "etcd has a leader, so it has not lost its quorum";
  const voters = Math.max(0, ...alive.map(({ answer }) => answer?.voters ?? 0));
  const voting = alive.filter(({ answer }) => answer?.votes === true);
  if (voting.length * 2 <= voters) return undefined;
  const names = voting.map(({ machine }) => machine).join(", ");
  return `${voting.length} of ${voters} members of etcd answer (${names}), which is a majority that elects a leader within seconds. If it does not, check the network between these Machines (port 2380)`;
}

/** Says that a backup is not one of the cluster, and how to restore it nevertheless. */
export function anotherCluster(backup: string, why: string): string {
  return `backup ${backup} belongs to another cluster: ${why}. Name a backup of this cluster; or, to bring that cluster back, first write the authorities of its control-plane.json into the Secrets of this one (-ca, -etcd, -proxy and -sa)`;
}

function namesOf(backups: readonly SurveyedBackup[]): string {
  return backups
    .slice(-5)
    .map(({ name }) => name)
    .join(", ");
}

/** Whether two plans restore the same data. */
export function hasSameSource(a: RecoveryPlan, b: RecoveryPlan): boolean {
  return a.source === b.source && a.member === b.member && a.backup === b.backup;
}

/** The member with the highest revision. Revisions are 64-bit numbers. */
function newestOf(alive: readonly SurveyedMember[]): SurveyedMember | undefined {
  return [...alive].sort((a, b) => {
    const difference = BigInt(b.answer?.revision ?? "0") - BigInt(a.answer?.revision ?? "0");
    return difference > 0n ? 1 : difference < 0n ? -1 : a.machine < b.machine ? -1 : 1;
  })[0];
}

/** What the work of a phase has led to. */
export type RecoveryEvent =
  | { readonly type: "planned"; readonly plan: RecoveryPlan }
  | { readonly type: "refused" }
  | { readonly type: "approved" }
  | { readonly type: "saved"; readonly backup: string }
  | { readonly type: "verified"; readonly digest: string }
  | { readonly type: "removed" }
  | { readonly type: "created"; readonly machine: string }
  | { readonly type: "started" }
  | { readonly type: "scaled" };

/** The next record; an event that does not belong to the phase changes nothing. */
export function after(record: RecoveryRecord, event: RecoveryEvent): RecoveryRecord {
  switch (event.type) {
    case "planned":
      return record.phase === "Planning" || record.phase === "WaitingForApproval" || record.phase === "Refused"
        ? { phase: "WaitingForApproval", plan: event.plan }
        : record;
    case "refused":
      return /^(Planning|WaitingForApproval|Verifying|Refused)$/.test(record.phase) ? { phase: "Refused" } : record;
    case "approved": {
      if (record.phase !== "WaitingForApproval") return record;
      const { plan } = record;
      // A backup is in the store already; a member's data has to be saved before its Machine is deleted.
      return plan.backup === undefined
        ? { phase: "Saving", plan }
        : { phase: "Verifying", plan, savedBackup: plan.backup };
    }
    case "saved":
      return record.phase === "Saving" ? { phase: "Verifying", plan: record.plan, savedBackup: event.backup } : record;
    case "verified":
      return record.phase === "Verifying" ? { ...record, phase: "Removing", digest: event.digest } : record;
    case "removed":
      return record.phase === "Removing" ? { ...record, phase: "Starting" } : record;
    case "created":
      return record.phase === "Starting" ? { ...record, machine: event.machine } : record;
    case "started":
      return record.phase === "Starting" && record.machine !== undefined
        ? { ...record, phase: "Scaling", machine: record.machine }
        : record;
    case "scaled":
      return record.phase === "Scaling" ? { ...record, phase: "Done" } : record;
  }
}

/** Describes a plan in one or two sentences, before a person approves it. */
export function describePlan(plan: RecoveryPlan, nowMs: number): string {
  const { lost = [], alive = [], member, revision, dataFrom } = plan;
  const seconds = Math.max(0, Math.round((nowMs - Date.parse(dataFrom ?? "")) / 1000));
  const from =
    member === undefined
      ? `${sourceText(plan)}; everything written in the ${durationText(seconds)} since then is lost`
      : `${sourceText(plan)} with everything up to revision ${revision ?? ""}`;
  // Whether they run all the same cannot be determined from here.
  const caution =
    lost.length === 0
      ? ""
      : " A member that does not answer the manager may still run: make sure that its Machine is powered off, because what it still accepts is lost.";
  const counts = `Do not answer: ${lost.join(", ") || "none"}; answer: ${alive.join(", ") || "none"}.${caution}`;
  return `${counts} Restores etcd from ${from}. All control plane Machines are deleted and replaced; workers stay.`;
}

/** Names where a plan takes the data from. */
export function sourceText({ member, backup }: RecoveryPlan): string {
  return member === undefined ? `backup ${backup ?? ""}` : `the member on Machine ${member}`;
}

function durationText(seconds: number): string {
  if (seconds < 120) return `${seconds} seconds`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} minutes`;
  return seconds < 172_800 ? `${Math.round(seconds / 3600)} hours` : `${Math.round(seconds / 86_400)} days`;
}

function time(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, "Z");
}
