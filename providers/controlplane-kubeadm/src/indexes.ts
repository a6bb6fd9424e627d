import { controllerOf } from "@capstan/apimachinery";
import { type Cluster, type ClusterKey, KubeadmControlPlane, Machine, MachinePool } from "@capstan/capi";
import type { Cache, Request } from "@capstan/runtime";

const BY_CLUSTER = "kubeadm-control-plane/cluster";

/** Adds the indexes that the controller reads by; call it before the cache starts. */
export function addKubeadmControlPlaneIndexes(cache: Cache): void {
  const byCluster = (object: Machine | MachinePool): string[] => [
    keyText({ namespace: object.metadata.namespace ?? "", name: object.spec.clusterName }),
  ];
  cache.addIndex(Machine, BY_CLUSTER, byCluster);
  cache.addIndex(MachinePool, BY_CLUSTER, byCluster);
}

/** Returns all Machines of a cluster, those of workers included. */
export function machinesOfCluster(cache: Cache, cluster: ClusterKey): Machine[] {
  return cache.byIndex(Machine, BY_CLUSTER, keyText(cluster));
}

/** Returns the MachinePools of a cluster. */
export function poolsOfCluster(cache: Cache, cluster: ClusterKey): MachinePool[] {
  return cache.synced(MachinePool) ? cache.byIndex(MachinePool, BY_CLUSTER, keyText(cluster)) : [];
}

/** Returns the request for a Cluster's control plane, if it is a KubeadmControlPlane. */
export function controlPlaneOf({ metadata, spec }: Cluster): Request[] {
  const reference = spec?.controlPlaneRef;
  if (reference?.kind !== KubeadmControlPlane.kind || reference.apiGroup !== KubeadmControlPlane.group) return [];
  return [{ namespace: metadata.namespace ?? "", name: reference.name }];
}

/** Whether a control plane controls a Machine. The uid is not compared: it changes when both are moved. */
export function isControlledBy(machine: Machine, { metadata }: KubeadmControlPlane): boolean {
  const owner = controllerOf(machine);
  return (
    owner?.kind === KubeadmControlPlane.kind &&
    owner.apiVersion.startsWith(`${KubeadmControlPlane.group}/`) &&
    owner.name === metadata.name
  );
}

function keyText({ namespace, name }: ClusterKey): string {
  return `${namespace}/${name}`;
}
