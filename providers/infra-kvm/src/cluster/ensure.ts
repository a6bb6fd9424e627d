import { deepEqual } from "@capstan/apimachinery";
import { gone, type InfraClusterRemoval, type InfraClusterScope, type Outcome, ready } from "@capstan/capi";
import type { Backend } from "../backend.ts";
import type { KVMCluster } from "../kinds/kvm-cluster.ts";
import { nodeIndexes } from "./node-indexes.ts";

/** Numbers the machines of the cluster; there is nothing else to create. */
export async function ensureCluster({
  object,
  cluster,
  backend,
}: InfraClusterScope<KVMCluster, Backend>): Promise<Outcome> {
  const { namespace = "", name = "" } = cluster.metadata;
  const machines = backend.machinesOf({ namespace, name }).map(({ metadata }) => metadata.name ?? "");
  const known = object.status?.nodeIndexes ?? {};
  const indexes = nodeIndexes(known, machines);
  return { ...ready(), ...(deepEqual(indexes, known) ? {} : { status: { nodeIndexes: indexes } }) };
}

/** Machines are deleted before their cluster, so that nothing is left. */
export async function removeCluster(_scope: InfraClusterRemoval<KVMCluster, Backend>): Promise<Outcome> {
  return gone();
}
