import { controllerOf, selectorOrProblem } from "@capstan/apimachinery";
import { Cluster, CONTRACT_STATUS, MachineDeployment, MachineSet } from "@capstan/capi";
import {
  type Cache,
  type Controller,
  controller,
  ownerRequests,
  type Predicate,
  type Request,
  requestFor,
} from "@capstan/runtime";
import { BY_CLUSTER, clusterKey } from "../cluster/indexes.ts";
import { Coalescer } from "../shared/coalesce.ts";
import { reconcileMachineDeployment } from "./machine-deployment.reconcile.ts";

const CONCURRENCY = 50;

/** Returns the MachineDeployment controller, which also watches MachineSets. */
export function machineDeploymentController(): Controller {
  const coalescer = new Coalescer();
  return controller("machinedeployment")
    .for(MachineDeployment)
    .watches(MachineSet, deploymentsOfSet)
    .watches(Cluster, deploymentsOfCluster, { predicate: clusterMatters })
    .concurrency(CONCURRENCY)
    .rank(3)
    .deferStatus(CONTRACT_STATUS)
    .reconcile((request, context) => reconcileMachineDeployment(request, context, coalescer));
}

/** The deployment that controls a set, or those that may adopt it. */
function deploymentsOfSet(set: MachineSet, cache: Cache): Request[] {
  if (controllerOf(set) !== undefined) return ownerRequests(set, MachineDeployment, false);
  if (!cache.synced(MachineDeployment)) return [];
  return cache
    .byIndex(MachineDeployment, BY_CLUSTER, clusterKey(set.metadata.namespace ?? "", set.spec.clusterName))
    .filter((deployment) => selectorOrProblem(deployment.spec.selector, "spec.selector").matches(set.metadata.labels))
    .flatMap(requestFor);
}

function deploymentsOfCluster(cluster: Cluster, cache: Cache): Request[] {
  if (!cache.synced(MachineDeployment)) return [];
  const key = clusterKey(cluster.metadata.namespace ?? "", cluster.metadata.name ?? "");
  return cache.byIndex(MachineDeployment, BY_CLUSTER, key).flatMap(requestFor);
}

const clusterMatters: Predicate<Cluster> = {
  update: (cluster, old) => cluster.spec?.paused !== old.spec?.paused,
};
