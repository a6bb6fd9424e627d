import type { ObjectMeta } from "@capstan/apimachinery";

const MIN_SIZE = "cluster.x-k8s.io/cluster-api-autoscaler-node-group-min-size";
const MAX_SIZE = "cluster.x-k8s.io/cluster-api-autoscaler-node-group-max-size";

/**
 * Replicas of an object that names none: with an autoscaler's limits the smallest for a new object, else what it had,
 * brought within the limits; otherwise 1. Limits that are no numbers count as absent.
 */
export function defaultReplicas(metadata: ObjectMeta, before: number | undefined, isNew: boolean): number {
  const min = size(metadata.annotations?.[MIN_SIZE]);
  const max = size(metadata.annotations?.[MAX_SIZE]);
  if (min === undefined || max === undefined) return 1;
  if (isNew || before === undefined) return min;
  return Math.min(Math.max(before, min), max);
}

function size(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : undefined;
}
