import { findCondition } from "@capstan/apimachinery";
import { conditionsOf, type Machine } from "@capstan/capi";
import type { PlaneScope } from "./scope.ts";
import type { WorkloadObservation } from "./workload/workload-side.ts";

/**
 * Whether `kubeadm init` has finished. The first Machine may finish it while it is being replaced, which does not count: its successor
 * would otherwise try to join what is about to be deleted.
 */
export function isInitialized(
  { initialized }: PlaneScope,
  machines: readonly Machine[],
  observation: WorkloadObservation,
): boolean {
  if (initialized) return true;
  const [only, ...others] = machines;
  if (only !== undefined && others.length === 0) {
    const conditions = conditionsOf(only);
    const failed = ["HealthCheckSucceeded", "OwnerRemediated"].every(
      (type) => findCondition(conditions, type)?.status === "False",
    );
    if (failed || only.metadata.deletionTimestamp !== undefined) return false;
  }
  return observation.initialized === true;
}
