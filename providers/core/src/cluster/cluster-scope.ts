import {
  type Cluster,
  Machine,
  MachineDeployment,
  MachinePool,
  MachineSet,
  type Referenced,
  readReference,
  WorkerPool,
} from "@capstan/capi";
import type { ReconcileContext } from "@capstan/runtime";
import { BY_CLUSTER, clusterKey } from "./indexes.ts";
import { clustersOfInfrastructure, readSecondaries, type SecondaryInfrastructure } from "./secondary-infrastructure.ts";

/** Everything that one reconcile of a Cluster reads. */
export interface ClusterScope {
  cluster: Cluster;
  infrastructure: Referenced;
  /** Additional infrastructure clusters that belong to the Cluster. */
  secondaries: SecondaryInfrastructure[];
  controlPlane: Referenced;
  machineDeployments: MachineDeployment[];
  machinePools: MachinePool[];
  workerPools: WorkerPool[];
  /** MachineSets without a MachineDeployment. */
  machineSets: MachineSet[];
  machines: Machine[];
}

/** Reads everything that a Cluster refers to and consists of. */
export async function readCluster(cluster: Cluster, context: ReconcileContext): Promise<ClusterScope> {
  const namespace = cluster.metadata.namespace ?? "";
  const key = clusterKey(namespace, cluster.metadata.name ?? "");
  // References are watched by kind, not by owner: the object may be created after the Cluster and have no owner yet.
  const owned = (object: MachineSet): boolean =>
    object.metadata.ownerReferences?.some((owner) => owner.controller === true) === true;
  return {
    cluster,
    infrastructure: await readReference(context, namespace, cluster.spec?.infrastructureRef, clustersOfInfrastructure),
    secondaries: await readSecondaries(cluster, context),
    controlPlane: await readReference(context, namespace, cluster.spec?.controlPlaneRef, clustersOfInfrastructure),
    machineDeployments: context.cache.byIndex(MachineDeployment, BY_CLUSTER, key),
    machinePools: context.cache.byIndex(MachinePool, BY_CLUSTER, key),
    workerPools: context.cache.byIndex(WorkerPool, BY_CLUSTER, key),
    machineSets: context.cache.byIndex(MachineSet, BY_CLUSTER, key).filter((set) => !owned(set)),
    machines: context.cache.byIndex(Machine, BY_CLUSTER, key),
  };
}
