import { selectorOrProblem } from "@capstan/apimachinery";
import { Cluster, Machine, MachineHealthCheck, type WorkloadClusters } from "@capstan/capi";
import { type Cache, type Controller, controller, type Request, requestFor } from "@capstan/runtime";
import { BY_CLUSTER, clusterKey } from "../cluster/indexes.ts";
import { BY_NODE, inCluster } from "../shared/indexes.ts";
import { HealthCheckClock } from "./health-check-clock.ts";
import { reconcileMachineHealthCheck } from "./machine-health-check.reconcile.ts";

const CONCURRENCY = 10;

/** Adds the cache indexes that the MachineHealthCheck controller reads; call it before the cache starts. */
export function addMachineHealthCheckIndexes(cache: Cache): void {
  cache.addIndex(MachineHealthCheck, BY_CLUSTER, (check) => [
    clusterKey(check.metadata.namespace ?? "", check.spec.clusterName),
  ]);
}

/** Returns the MachineHealthCheck controller, which also watches Machines and their Nodes. */
export function machineHealthCheckController(workload: WorkloadClusters): Controller {
  const clocks = new HealthCheckClock();
  let cache: Cache | undefined;
  return controller("machine-health-check")
    .for(MachineHealthCheck)
    .watches(Cluster, (cluster, from) => checksOf(from, cluster.metadata.namespace ?? "", cluster.metadata.name ?? ""))
    .watches(Machine, checksOfMachine)
    .watchesRaw({
      start: (enqueue, signal) => {
        const unsubscribe = workload.subscribe((cluster, node) => {
          if (cache === undefined) return;
          for (const request of checksOfNode(cache, cluster.namespace, cluster.name, node)) enqueue(request);
        });
        signal.addEventListener("abort", unsubscribe, { once: true });
      },
    })
    .concurrency(CONCURRENCY)
    .reconcile((request, context) => {
      cache = context.cache;
      return reconcileMachineHealthCheck(request, context, workload, clocks);
    });
}

function checksOf(cache: Cache, namespace: string, cluster: string): Request[] {
  if (!cache.synced(MachineHealthCheck)) return [];
  return cache.byIndex(MachineHealthCheck, BY_CLUSTER, clusterKey(namespace, cluster)).flatMap(requestFor);
}

function checksOfMachine(machine: Machine, cache: Cache): Request[] {
  if (!cache.synced(MachineHealthCheck)) return [];
  return cache
    .byIndex(MachineHealthCheck, BY_CLUSTER, clusterKey(machine.metadata.namespace ?? "", machine.spec.clusterName))
    .filter((check) => selectorOrProblem(check.spec.selector, "spec.selector").matches(machine.metadata.labels))
    .flatMap(requestFor);
}

/** Without a Node's name the connection itself has changed. */
function checksOfNode(cache: Cache, namespace: string, cluster: string, node: string | undefined): Request[] {
  if (node === undefined) return checksOf(cache, namespace, cluster);
  if (!cache.synced(Machine)) return [];
  return cache
    .byIndex(Machine, BY_NODE, inCluster(namespace, cluster, node))
    .flatMap((machine) => checksOfMachine(machine, cache));
}
