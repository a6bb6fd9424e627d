import {
  Cluster,
  CONTRACT_STATUS,
  CustomResourceDefinition,
  Machine,
  MachineDeployment,
  MachinePool,
  MachineSet,
  WorkerPool,
  type WorkloadClusters,
} from "@capstan/capi";
import { type Cache, type Controller, controller, type Request } from "@capstan/runtime";
import { Coalescer } from "../shared/coalesce.ts";
import { reconcileCluster } from "./cluster.reconcile.ts";
import { mayBeInfraCluster } from "./secondary-infrastructure.ts";

const CONCURRENCY = 20;

/** Returns the Cluster controller, which also watches everything that belongs to a Cluster. */
export function clusterController(workload: WorkloadClusters): Controller {
  const byName = (object: { metadata: { namespace?: string }; spec: { clusterName: string } }): Request[] => [
    { namespace: object.metadata.namespace ?? "", name: object.spec.clusterName },
  ];
  const coalescer = new Coalescer();
  return controller("cluster")
    .for(Cluster)
    .watches(MachineDeployment, byName)
    .watches(MachinePool, byName)
    .watches(WorkerPool, byName)
    .watches(MachineSet, byName)
    .watches(Machine, byName)
    .watches(CustomResourceDefinition, clustersThatRefer)
    .watchesRaw({
      start: (enqueue, signal) => {
        const unsubscribe = workload.subscribe((key) => enqueue(key));
        signal.addEventListener("abort", unsubscribe, { once: true });
      },
    })
    .concurrency(CONCURRENCY)
    .rank(4)
    .deferStatus(CONTRACT_STATUS)
    .reconcile((request, context) => reconcileCluster(request, context, workload, coalescer));
}

/**
 * A CRD that appears or changes its labels can cure references that led nowhere. One that brings a kind of infrastructure clusters
 * leads to any one Cluster: its pass begins to watch the kind, and what exists of it then leads to the right ones.
 */
function clustersThatRefer(crd: CustomResourceDefinition, cache: Cache): Request[] {
  const refers = (reference: { apiGroup: string; kind: string } | undefined): boolean =>
    reference?.apiGroup === crd.spec.group && reference.kind === crd.spec.names.kind;
  // Clusters that are not known yet are reconciled when they are.
  if (!cache.synced(Cluster)) return [];
  const clusters = cache.list(Cluster);
  const first = mayBeInfraCluster(crd) ? clusters.slice(0, 1) : [];
  return [
    ...first,
    ...clusters.filter((cluster) => refers(cluster.spec?.infrastructureRef) || refers(cluster.spec?.controlPlaneRef)),
  ].map((cluster) => ({ namespace: cluster.metadata.namespace ?? "", name: cluster.metadata.name ?? "" }));
}
