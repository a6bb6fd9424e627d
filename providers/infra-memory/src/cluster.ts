import {
  CLUSTER_NAME_LABEL,
  type Cluster,
  gone,
  type InfraClusterRemoval,
  type InfraClusterScope,
  type Outcome,
  ready,
} from "@capstan/capi";
import { machinesHost } from "@capstan/workloads";
import type { MemoryBackend } from "./backend.ts";
import type { MemoryCluster } from "./kinds/memory-cluster.ts";

const API_PORT = 6443;

/**
 * Reports the MemoryCluster as ready with the failure domains of its spec; there is no infrastructure to create. A control plane of
 * machines is reached in this process under a name, which is the endpoint.
 */
export async function ensureCluster({
  object,
  cluster,
}: InfraClusterScope<MemoryCluster, MemoryBackend>): Promise<Outcome> {
  const { failureDomains } = object.spec ?? {};
  const { namespace = "", name = "" } = cluster.metadata;
  return ready({
    failureDomains,
    ...(hasMachines(cluster) ? { endpoint: { host: machinesHost({ namespace, name }), port: API_PORT } } : {}),
  });
}

/** Machines of a KubeadmControlPlane, or stand-alone ones; other control planes bring an endpoint of their own. */
function hasMachines(cluster: Cluster): boolean {
  const { controlPlaneRef, infrastructureRef } = cluster.spec ?? {};
  const isOfMachines = controlPlaneRef === undefined || controlPlaneRef.kind === "KubeadmControlPlane";
  return isOfMachines && infrastructureRef?.kind === "MemoryCluster";
}

/** Reports the MemoryCluster as deleted; only what is left of its machines' control plane is deleted with it. */
export async function removeCluster({
  object,
  cluster,
  backend,
}: InfraClusterRemoval<MemoryCluster, MemoryBackend>): Promise<Outcome> {
  const name = cluster?.metadata.name ?? object.metadata.labels?.[CLUSTER_NAME_LABEL];
  const { namespace = "" } = object.metadata;
  if (name !== undefined) await backend.options.planes?.remove({ namespace, name });
  return gone();
}
