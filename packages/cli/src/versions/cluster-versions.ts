import type { KubeObject, Unstructured } from "@capstan/apimachinery";
import { CLUSTER_NAME_LABEL, field } from "@capstan/capi";
import type { Client } from "@capstan/runtime";
import { type Cluster, MachineDeployment, WorkerPool } from "../kinds/kinds.ts";

/** An object with a Kubernetes version, and whether it has finished rolling out. */
export interface Versioned {
  object: KubeObject;
  /** The desired version. */
  version: string;
  /** Whether all its replicas run that version. */
  settled: boolean;
}

/** The Kubernetes versions of a cluster's control plane and of each group of workers. */
export interface ClusterVersions {
  cluster: Cluster;
  controlPlane: (Versioned & { running: string }) | undefined;
  workers: Versioned[];
}

/** Reads the versions of a cluster. MachineDeployments of a WorkerPool are covered by the pool and left out. */
export async function readVersions(client: Client, cluster: Cluster): Promise<ClusterVersions> {
  const namespace = cluster.metadata.namespace ?? "";
  const name = cluster.metadata.name ?? "";
  const reference = cluster.spec?.controlPlaneRef;
  const [plane, deployments, pools] = await Promise.all([
    reference === undefined
      ? undefined
      : client.mapper
          .preferred(reference.apiGroup, reference.kind)
          .then((kind) => client.get(kind, { namespace, name: reference.name })),
    client.list(MachineDeployment, { namespace, labelSelector: `${CLUSTER_NAME_LABEL}=${name}` }),
    client.list(WorkerPool, { namespace }).catch(() => ({ items: [] })),
  ]);
  const owned = (deployment: MachineDeployment): boolean =>
    (deployment.metadata.ownerReferences ?? []).some(({ kind }) => kind === WorkerPool.kind);
  const workers = [
    ...pools.items
      .filter(({ spec }) => spec.clusterName === name)
      .map((pool) => ({
        object: pool,
        version: pool.spec.template.spec.version ?? "",
        settled: deployments.items
          .filter(
            (deployment) => deployment.metadata.ownerReferences?.some(({ uid }) => uid === pool.metadata.uid) === true,
          )
          .every((deployment) => isSettled(deployment, pool.spec.template.spec.version)),
      })),
    ...deployments.items
      .filter((deployment) => !owned(deployment))
      .map((deployment) => ({
        object: deployment,
        version: deployment.spec.template.spec.version ?? "",
        settled: isSettled(deployment, deployment.spec.template.spec.version),
      })),
  ];
  return { cluster, controlPlane: plane === undefined ? undefined : controlPlaneOf(plane), workers };
}

function controlPlaneOf(object: Unstructured): Versioned & { running: string } {
  const version = text(field(object, "spec", "version"));
  const running = text(field(object, "status", "version"));
  return { object, version, running, settled: running === version && hasReplacedMachines(object) };
}

/** Whether a control plane on Machines has no Machine of an earlier spec left; others have none at all. */
function hasReplacedMachines(object: Unstructured): boolean {
  if (field(object, "spec", "machineTemplate") === undefined) return true;
  const wanted = field(object, "spec", "replicas") ?? 1;
  const counts = ["replicas", "upToDateReplicas", "availableReplicas"].map((name) => field(object, "status", name));
  const seen = Number(field(object, "status", "observedGeneration") ?? 0) >= (object.metadata.generation ?? 0);
  return seen && counts.every((count) => count === wanted);
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function isSettled(deployment: MachineDeployment, version: string | undefined): boolean {
  const { spec, status, metadata } = deployment;
  const wanted = spec.replicas ?? 0;
  return (
    spec.template.spec.version === version &&
    (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0) &&
    (status?.upToDateReplicas ?? 0) === wanted &&
    (status?.availableReplicas ?? 0) >= wanted &&
    (status?.replicas ?? 0) === wanted
  );
}
