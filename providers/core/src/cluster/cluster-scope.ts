import {
  type Cluster,
  type ContractObject,
  type ContractReference,
  type ContractVersion,
  Machine,
  MachineDeployment,
  MachinePool,
  MachineSet,
  WorkerPool,
  watchKind,
} from "@capstan/capi";
import type { Kind, ReconcileContext } from "@capstan/runtime";
import { BY_CLUSTER, clusterKey } from "./indexes.ts";
import { clustersOfInfrastructure, readSecondaries, type SecondaryInfrastructure } from "./secondary-infrastructure.ts";

/** An object that the Cluster references: found, missing, or not readable. */
export type Referenced =
  | { state: "none" }
  | { state: "unresolved"; reference: ContractReference; message: string }
  | { state: "missing"; reference: ContractReference }
  | {
      state: "found";
      reference: ContractReference;
      kind: Kind<ContractObject>;
      object: ContractObject;
      contract: ContractVersion;
    };

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
  const key = clusterKey(cluster.metadata.namespace ?? "", cluster.metadata.name ?? "");
  const owned = (object: MachineSet): boolean =>
    object.metadata.ownerReferences?.some((owner) => owner.controller === true) === true;
  return {
    cluster,
    infrastructure: await readReference(cluster, cluster.spec?.infrastructureRef, context),
    secondaries: await readSecondaries(cluster, context),
    controlPlane: await readReference(cluster, cluster.spec?.controlPlaneRef, context),
    machineDeployments: context.cache.byIndex(MachineDeployment, BY_CLUSTER, key),
    machinePools: context.cache.byIndex(MachinePool, BY_CLUSTER, key),
    workerPools: context.cache.byIndex(WorkerPool, BY_CLUSTER, key),
    machineSets: context.cache.byIndex(MachineSet, BY_CLUSTER, key).filter((set) => !owned(set)),
    machines: context.cache.byIndex(Machine, BY_CLUSTER, key),
  };
}

/** Reads what a reference names and watches its kind from now on. */
async function readReference(
  cluster: Cluster,
  reference: ContractReference | undefined,
  context: ReconcileContext,
): Promise<Referenced> {
  if (reference === undefined) return { state: "none" };
  // By reference, not by owner: the object may be created after the Cluster and have no owner yet.
  const resolved = await watchKind(context, reference, clustersOfInfrastructure);
  if ("problem" in resolved) return { state: "unresolved", reference, message: resolved.problem };
  const object = context.cache.get(resolved.kind, { namespace: cluster.metadata.namespace, name: reference.name });
  if (object === undefined) return { state: "missing", reference };
  return { state: "found", reference, kind: resolved.kind, object, contract: resolved.contract };
}
