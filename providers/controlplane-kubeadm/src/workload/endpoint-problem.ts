import { type ClusterKey, reach, type WorkloadClusters } from "@capstan/capi";

/** How long an endpoint may be silent, for example while a virtual IP moves. */
const SURFACES_AFTER_MS = 10_000;

/** An endpoint that does not answer while the API does at the Machines. */
export interface EndpointProblem {
  /** Why it does not answer, once that has lasted for some seconds. */
  readonly error: string | undefined;
  /** In how many milliseconds there will be an error, if it stays like that. */
  readonly dueMs: number;
}

/** Whether the endpoint is worse than the Machines behind it. */
export function endpointProblem(workloads: WorkloadClusters, cluster: ClusterKey, nowMs: number): EndpointProblem {
  const endpoint = workloads.get(cluster);
  const isFine = endpoint.state === "connected" || reach(workloads, cluster).state !== "connected";
  if (isFine) return { error: undefined, dueMs: Infinity };
  const dueMs = endpoint.since + SURFACES_AFTER_MS - nowMs;
  return dueMs > 0 ? { error: undefined, dueMs } : { error: endpoint.error, dueMs: Infinity };
}

/** Connections that are reached either way. */
export function eitherWay(workloads: WorkloadClusters): WorkloadClusters {
  return { get: (cluster) => reach(workloads, cluster), subscribe: (listener) => workloads.subscribe(listener) };
}
