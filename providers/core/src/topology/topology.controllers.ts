import {
  Cluster,
  ClusterClass,
  CustomResourceDefinition,
  Machine,
  MachineDeployment,
  MachineHealthCheck,
  MachinePool,
  MachineSet,
} from "@capstan/capi";
import { type Cache, type Controller, controller, type Predicate, type Request, requestFor } from "@capstan/runtime";
import { reconcileClusterClass } from "./cluster-class.reconcile.ts";
import { TOPOLOGY_MANAGER, TOPOLOGY_OWNED_LABEL } from "./constants.ts";
import { clustersOfClass, templateReferences } from "./indexes.ts";
import { reconcileTopology } from "./topology.reconcile.ts";

const CONCURRENCY = 10;

/** Returns the controllers of ClusterClasses and of Clusters with a topology. */
export function topologyControllers(): Controller[] {
  const topologies = controller("topology")
    .fieldManager(TOPOLOGY_MANAGER)
    .for(Cluster, { predicate: withTopology })
    .watches(ClusterClass, clustersOfClass)
    .watches(MachineDeployment, clusterOf)
    .watches(MachinePool, clusterOf)
    .watches(MachineHealthCheck, clusterOf)
    .watches(Machine, clusterOf, { predicate: machineMoves })
    .watches(MachineSet, clusterOf, { predicate: { create: () => false, update: () => false } })
    .concurrency(CONCURRENCY)
    .reconcile(reconcileTopology);
  const classes = controller("cluster-class")
    .for(ClusterClass)
    .watches(CustomResourceDefinition, classesOfKind)
    .concurrency(CONCURRENCY)
    .reconcile(reconcileClusterClass);
  return [topologies, classes];
}

const withTopology: Predicate<Cluster> = {
  create: (cluster) => cluster.spec?.topology !== undefined,
  update: (cluster, old) => cluster.spec?.topology !== undefined || old.spec?.topology !== undefined,
  delete: () => false,
};

/** Only Machines that show the progress of an upgrade are relevant. */
const machineMoves: Predicate<Machine> = {
  update: (machine, old) => machine.spec.version !== old.spec.version,
};

function clusterOf(object: {
  metadata: { namespace?: string; labels?: Record<string, string> };
  spec: { clusterName: string };
}): Request[] {
  if (object.metadata.labels?.[TOPOLOGY_OWNED_LABEL] === undefined) return [];
  return [{ namespace: object.metadata.namespace ?? "", name: object.spec.clusterName }];
}

/** A new CRD can fix classes whose templates had no kind. */
function classesOfKind(crd: CustomResourceDefinition, cache: Cache): Request[] {
  if (!cache.synced(ClusterClass)) return [];
  return cache
    .list(ClusterClass)
    .filter((one) => templateReferences(one).some(({ kind }) => kind === crd.spec.names.kind))
    .flatMap(requestFor);
}
