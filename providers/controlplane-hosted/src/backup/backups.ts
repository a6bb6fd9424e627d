import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { DialGate } from "@capstan/apimachinery/foreign";
import {
  type BackupStore,
  backupName,
  backupTimeMs,
  DirectoryStore,
  expiredBackups,
  planBackup,
  S3Store,
} from "@capstan/backup";
import { type ConditionInput, Secret, secretText } from "@capstan/capi";
import type { ReconcileContext } from "@capstan/runtime";
import { HostedControlPlane } from "../kinds/hosted-control-plane.ts";
import type { ControlPlanePlan, Placement } from "../placement/placement.ts";
import { describeControlPlane } from "./description.ts";

/** `capstan.dev/backup: now` asks for one at once. */
const BACKUP_ANNOTATION = "capstan.dev/backup";
/** A backup that failed is tried again after this. */
const RETRY_MS = 60_000;

const BACKED_UP: ConditionInput = { type: "BackedUp", status: "True", reason: "BackedUp", message: "" };

/** Status and condition of the backups of a control plane, and when to check them again. */
export interface BackupReport {
  status?: NonNullable<HostedControlPlane["status"]>["backup"];
  condition?: ConditionInput;
  recheckAtMs?: number;
}

/** Removed in one pass: a store may list any number, and each takes its time. */
const MAX_REMOVED = 100;

/** Returns the store for the backups of a control plane, or why it cannot be used. */
export async function backupStore(
  object: HostedControlPlane,
  dir: string,
  gate: DialGate,
  context: ReconcileContext,
): Promise<BackupStore | { problem: string }> {
  const s3 = object.spec.etcd?.backup?.s3;
  if (s3 === undefined) return new DirectoryStore(dir);
  const secret = await context.client.get(Secret, { namespace: object.metadata.namespace, name: s3.secretName });
  const accessKeyId = secretText(secret, "accessKeyId");
  const secretAccessKey = secretText(secret, "secretAccessKey");
  if (accessKeyId === undefined || secretAccessKey === undefined)
    return {
      problem: `spec.etcd.backup.s3: Secret ${s3.secretName} must have the keys accessKeyId and secretAccessKey`,
    };
  const { secretName: _secret, ...rest } = s3;
  const { clock } = context;
  try {
    const field = "spec.etcd.backup.s3";
    return new S3Store({ ...rest, field, accessKeyId, secretAccessKey, scratchDir: join(dir, ".s3"), clock, gate });
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) };
  }
}

/** Takes a backup of a running control plane and returns its name. */
export async function takeBackup(
  plan: ControlPlanePlan,
  placement: Placement,
  store: BackupStore,
  dir: string,
  nowMs: number,
  label?: string,
): Promise<string> {
  if (placement.snapshot === undefined)
    throw new Error("this placement takes no snapshots of etcd; use the means of where its data lies");
  const name = backupName(nowMs, label);
  const scratch = join(dir, ".taking", plan.owner.replace("/", "_"));
  await rm(scratch, { recursive: true, force: true });
  await mkdir(scratch, { recursive: true, mode: 0o700 });
  try {
    const file = join(scratch, `${name}.db`);
    await placement.snapshot(plan, file);
    await store.save(plan.owner, name, file, describeControlPlane(plan));
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
  return name;
}

/** Takes a backup if one is due, deletes old ones and reports the result. */
export async function reconcileBackups(
  object: HostedControlPlane,
  plan: ControlPlanePlan,
  placement: Placement,
  { dir, gate }: { dir: string; gate: DialGate },
  context: ReconcileContext,
): Promise<BackupReport> {
  const spec = object.spec.etcd?.backup;
  const requested = object.metadata.annotations?.[BACKUP_ANNOTATION] !== undefined;
  const known = object.status?.backup;
  if (spec === undefined && !requested && known === undefined) return {};
  const failed = (reason: string, message: string): BackupReport => ({
    condition: { type: "BackedUp", status: "False", reason, message },
    recheckAtMs: context.clock.now() + RETRY_MS,
  });
  const nowMs = context.clock.now();
  const createdMs = Date.parse(object.metadata.creationTimestamp ?? "") || nowMs;
  const input = { schedule: spec?.schedule, createdMs, nowMs };
  if (known?.lastName !== undefined && !requested) {
    // What is due follows from the last one; the store is asked only when one is made.
    const last = { name: known.lastName, timeMs: backupTimeMs(known.lastName) ?? 0, sizeBytes: 0 };
    const due = planBackup({ ...input, requested, backups: [last] });
    if (due.type === "later" || due.type === "never")
      return {
        status: { ...known, ...(due.type === "later" ? { nextTime: time(due.atMs) } : {}) },
        condition: BACKED_UP,
        ...(due.type === "later" ? { recheckAtMs: due.atMs } : {}),
      };
  }
  const store = await backupStore(object, dir, gate, context);
  if ("problem" in store) return failed("StoreNotUsable", store.problem);
  try {
    const owner = plan.owner;
    const due = planBackup({ ...input, requested, backups: await store.list(owner) });
    if (due.type === "invalid") return failed("InvalidSchedule", `spec.etcd.backup.schedule: ${due.message}`);
    if (due.type === "now") await takeBackup(plan, placement, store, dir, nowMs);
    const backups = await store.list(owner);
    const expired = expiredBackups(backups, spec?.keep, namedBackups(object, context)).slice(0, MAX_REMOVED);
    for (const old of expired) await store.delete(owner, old.name);
    if (requested) await context.client.patch(object, { metadata: { annotations: { [BACKUP_ANNOTATION]: null } } });
    const next = planBackup({ ...input, requested: false, backups });
    const last = backups.at(-1);
    return {
      ...(last === undefined
        ? {}
        : {
            status: {
              lastName: last.name,
              lastTime: time(backupTimeMs(last.name) ?? 0),
              lastSizeBytes: last.sizeBytes,
              count: backups.length - expired.length,
              location: store.location,
              ...(next.type === "later" ? { nextTime: time(next.atMs) } : {}),
            },
          }),
      condition:
        last === undefined
          ? { type: "BackedUp", status: "False", reason: "NoBackupYet", message: "The first one is not due yet" }
          : BACKED_UP,
      ...(next.type === "later" ? { recheckAtMs: next.atMs } : {}),
    };
  } catch (error) {
    return failed("BackupFailed", error instanceof Error ? error.message : String(error));
  }
}

/** The backups of a control plane that it or another one of its namespace names in `spec.etcd.restoreFrom`. */
function namedBackups({ metadata: { namespace, name } }: HostedControlPlane, context: ReconcileContext): Set<string> {
  const named = new Set<string>();
  for (const { metadata, spec } of context.cache.list(HostedControlPlane, { namespace })) {
    const from = spec.etcd?.restoreFrom;
    if (from !== undefined && (from.controlPlane ?? metadata.name) === name) named.add(from.backup);
  }
  return named;
}

function time(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, "Z");
}
