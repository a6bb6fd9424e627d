import { Cluster, type ConditionInput, conditionsOf, KubeadmControlPlane, withTransitionTimes } from "@capstan/capi";
import { BACKUP_ANNOTATION, type BackupPlace, type BackupReport, keepBackups } from "@capstan/controlplane";
import { done, type ReconcileContext, type Request, type Result, requeueAfter } from "@capstan/runtime";
import type { EtcdWays } from "../etcd/etcd-ways.ts";
import { controlPlaneOf } from "../indexes.ts";
import { ControlPlaneBackup } from "../kinds/control-plane-backup.ts";
import { isEtcdManaged } from "../machine-plan.ts";
import type { BackupOrigins } from "./backup-origins.ts";
import {
  backupOwner,
  backupSettingsOf,
  describePlane,
  type MachinePlane,
  snapshotOfQuorum,
} from "./machine-backups.ts";

/** Dependencies of the controllers of backups. */
export interface BackupDeps {
  readonly ways: EtcdWays;
  readonly place: BackupPlace;
  readonly origins: BackupOrigins;
  /** Backups that a recovery names, which are never pruned. */
  readonly named: (cluster: { namespace: string; name: string }, context: ReconcileContext) => ReadonlySet<string>;
}

/** Takes the backups of a control plane on Machines that are due, and prunes old ones. */
export async function reconcileControlPlaneBackup(
  request: Request,
  context: ReconcileContext,
  deps: BackupDeps,
): Promise<Result> {
  const object = context.cache.get(ControlPlaneBackup, request);
  if (object === undefined || object.metadata.deletionTimestamp !== undefined) return done();
  const plane = findPlane(object, context);
  const report = "plane" in plane ? await keep(object, plane.plane, context, deps) : { condition: plane.condition };
  await writeStatus(object, report, context);
  if (report.recheckAtMs === undefined) return done();
  return requeueAfter(Math.max(report.recheckAtMs - context.clock.now(), 0));
}

type Found = { readonly plane: MachinePlane } | { readonly condition: ConditionInput };

function findPlane(object: ControlPlaneBackup, context: ReconcileContext): Found {
  const { namespace = "", name } = object.metadata;
  const key = { namespace, name: object.spec.clusterName };
  const other = backupSettingsOf(key, context);
  if (other !== undefined && other.metadata.name !== name)
    return not(
      "AnotherBackup",
      `ControlPlaneBackup ${other.metadata.name ?? ""} keeps the backups of Cluster ${key.name}: delete one of them`,
    );
  const cluster = context.cache.get(Cluster, key);
  if (cluster === undefined) return not("ClusterDoesNotExist", `Cluster ${key.name} does not exist`);
  const [request] = controlPlaneOf(cluster);
  if (request === undefined)
    return not(
      "NoMachines",
      `The control plane of Cluster ${key.name} does not run on Machines; a HostedControlPlane has its backup settings in spec.etcd.backup`,
    );
  const controlPlane = context.cache.get(KubeadmControlPlane, request);
  if (controlPlane?.status?.initialization?.controlPlaneInitialized !== true)
    return not("WaitingForControlPlane", `Waiting for KubeadmControlPlane ${request.name} to be initialized`);
  if (!isEtcdManaged(controlPlane.spec))
    return not("ExternalEtcd", "etcd is external to the cluster: back it up where it runs");
  return { plane: { key, cluster, controlPlane } };
}

function not(reason: string, message: string): Found {
  return { condition: { type: "BackedUp", status: "False", reason, message } };
}

async function keep(
  object: ControlPlaneBackup,
  plane: MachinePlane,
  context: ReconcileContext,
  { ways, place, origins, named }: BackupDeps,
): Promise<BackupReport> {
  const { metadata, spec, status } = object;
  const { lastName, lastTime, lastSizeBytes, count, location, listedTime, nextTime, backups } = status ?? {};
  const known = { lastName, lastTime, lastSizeBytes, count, location, listedTime, nextTime, backups };
  return await keepBackups(
    {
      owner: backupOwner(plane),
      namespace: plane.key.namespace,
      settings: spec,
      field: "spec",
      createdMs: Date.parse(metadata.creationTimestamp ?? "") || context.clock.now(),
      requested: metadata.annotations?.[BACKUP_ANNOTATION] !== undefined,
      known: location === undefined ? undefined : JSON.parse(JSON.stringify(known)),
      named: named(plane.key, context),
      foreign: async (store, backups) => await origins.foreign(plane, store, backups, context),
      snapshot: (file) => snapshotOfQuorum(plane.key, ways, file, context),
      describe: () => describePlane(plane, context),
      answered: async () => {
        await context.client.patch(object, { metadata: { annotations: { [BACKUP_ANNOTATION]: null } } });
      },
    },
    place,
    context,
  );
}

async function writeStatus(
  object: ControlPlaneBackup,
  { condition, status }: BackupReport,
  context: ReconcileContext,
): Promise<void> {
  const { namespace = "", name = "", generation } = object.metadata;
  const conditions = withTransitionTimes(
    condition === undefined ? [] : [condition],
    conditionsOf(object),
    context.clock.now(),
    generation,
  );
  const desired = {
    apiVersion: ControlPlaneBackup.apiVersion,
    kind: ControlPlaneBackup.kind,
    metadata: { namespace, name },
    status: { conditions, ...status, ...(generation === undefined ? {} : { observedGeneration: generation }) },
  };
  await context.ensureStatus(desired as ControlPlaneBackup, context.cache.get(ControlPlaneBackup, { namespace, name }));
}
