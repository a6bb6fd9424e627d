import { Cluster, KubeadmControlPlane } from "@capstan/capi";
import { type Cache, type Controller, controller, type Request, requestFor } from "@capstan/runtime";
import { ControlPlaneBackup } from "../kinds/control-plane-backup.ts";
import { type BackupDeps, reconcileControlPlaneBackup } from "./control-plane-backup.ts";

/** A backup takes a connection and disk space: few at a time. */
const CONCURRENCY = 4;

/** Returns the controller of ControlPlaneBackups. */
export function controlPlaneBackupController(deps: BackupDeps): Controller {
  return controller("control-plane-backup")
    .for(ControlPlaneBackup)
    .watches(ControlPlaneBackup, ({ metadata, spec }, cache) =>
      backupsOf(cache, metadata.namespace ?? "", spec.clusterName),
    )
    .watches(Cluster, ({ metadata }, cache) => backupsOf(cache, metadata.namespace ?? "", metadata.name ?? ""))
    .watches(KubeadmControlPlane, backupsOfPlane, { predicate: { update: becameInitialized } })
    .concurrency(CONCURRENCY)
    .rank(5)
    .reconcile((request, context) => reconcileControlPlaneBackup(request, context, deps));
}

function backupsOf(cache: Cache, namespace: string, clusterName: string): Request[] {
  if (!cache.synced(ControlPlaneBackup)) return [];
  return cache
    .list(ControlPlaneBackup, { namespace })
    .filter(({ spec }) => spec.clusterName === clusterName)
    .flatMap(requestFor);
}

function backupsOfPlane({ metadata }: KubeadmControlPlane, cache: Cache): Request[] {
  const cluster = metadata.ownerReferences?.find(({ kind }) => kind === Cluster.kind)?.name;
  return cluster === undefined ? [] : backupsOf(cache, metadata.namespace ?? "", cluster);
}

function becameInitialized(plane: KubeadmControlPlane, old: KubeadmControlPlane): boolean {
  const initialized = (of: KubeadmControlPlane): boolean => of.status?.initialization?.controlPlaneInitialized === true;
  return initialized(plane) !== initialized(old);
}
