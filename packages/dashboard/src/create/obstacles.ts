import { type ClusterPlan, type MissingVersion, missingVersion, type Shortage } from "@capstan/capi";
import type { ControlPlaneHome, PlannedCluster } from "@capstan/dashboard-server";

/** Reasons why a cluster that the server would accept could not start or would probably fail. */
export interface Obstacles {
  /** Its control plane could never start. */
  readonly version: MissingVersion | undefined;
  /** Its machines would wait for hosts. */
  readonly shortages: readonly Shortage[];
  /** What will probably fail. */
  readonly warnings: readonly string[];
}

/** Finds the obstacles of a plan; data that could not be read is not counted as one. */
export function obstaclesOf(
  plan: ClusterPlan,
  home: ControlPlaneHome | undefined,
  planned: Pick<PlannedCluster, "shortages" | "warnings"> | undefined,
): Obstacles {
  return {
    version: home === undefined ? undefined : missingVersion(plan, { ...home, where: "the manager's machine" }),
    shortages: planned?.shortages ?? [],
    warnings: planned?.warnings ?? [],
  };
}

/** Returns whether the obstacles forbid creating the cluster now. */
export function isBlocked({ version, shortages: short }: Obstacles, mayWait: boolean): boolean {
  return version !== undefined || (short.length > 0 && !mayWait);
}
