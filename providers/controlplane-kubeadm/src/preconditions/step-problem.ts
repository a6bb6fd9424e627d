import type { CapacitySource, Machine, WorkloadClusters } from "@capstan/capi";
import { nodesRefuse } from "@capstan/controlplane";
import type { Step } from "../plan/step.ts";
import type { OwnedScope } from "../scope.ts";
import { freeMachines } from "./free-machines.ts";
import { type RolloutProblem, rolloutProblem } from "./rollout-problem.ts";

/** What decides beforehand whether Machines can be created or replaced. */
export interface PreconditionDeps {
  readonly workload: WorkloadClusters;
  readonly capacitySources: readonly CapacitySource[];
}

/** Explains why a step that creates or replaces Machines would fail; undefined for other steps. */
export function stepProblem(
  { desired, cluster, key, context }: OwnedScope,
  machines: readonly Machine[],
  step: Step,
  { workload, capacitySources }: PreconditionDeps,
  outdated: number,
): RolloutProblem | undefined {
  const replaces = step.type === "delete" && step.why === "rollout";
  if (!replaces && step.type !== "create") return undefined;
  const replacing = replaces || outdated > 0;
  return rolloutProblem({
    controlPlane: desired,
    replacing,
    machines: machines.length,
    free: freeMachines(desired, cluster, capacitySources, context.cache, context.clock.now()),
    skew: replacing ? nodesRefuse(workload, key, desired.spec.version) : undefined,
  });
}
