import type { Unstructured } from "@capstan/apimachinery";
import {
  type ClusterPlan,
  diskImages,
  type HostKind,
  hostKindOf,
  type MissingVersion,
  missingVersion,
  type Shortage,
  shortages,
} from "@capstan/capi";
import type { ControlPlaneHome } from "@capstan/dashboard-server";

/** What stands in the way of a cluster that the server would accept. */
export interface Obstacles {
  /** Its control plane could never start. */
  readonly version: MissingVersion | undefined;
  /** Its machines would wait for hosts. */
  readonly shortages: readonly Shortage[];
  /** What will probably fail. */
  readonly warnings: readonly string[];
}

/** Finds them; what could not be read is not held against the plan. */
export function obstaclesOf(
  plan: ClusterPlan,
  home: ControlPlaneHome | undefined,
  hosts: readonly Unstructured[] | undefined,
): Obstacles {
  return {
    version: home === undefined ? undefined : missingVersion(plan, { ...home, where: "the manager's machine" }),
    shortages: hosts === undefined ? [] : shortages(plan, hosts),
    warnings: diskImages(plan.workers),
  };
}

/** Whether the cluster must not be created as things are. */
export function isBlocked({ version, shortages: short }: Obstacles, mayWait: boolean): boolean {
  return version !== undefined || (short.length > 0 && !mayWait);
}

/** The kinds of hosts that a plan's groups choose from, each once. */
export function hostKindsOf({ workers }: Pick<ClusterPlan, "workers">): HostKind[] {
  return [...new Set(workers.flatMap((group) => hostKindOf(group) ?? []))];
}
