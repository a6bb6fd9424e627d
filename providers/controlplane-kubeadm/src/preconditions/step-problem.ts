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

/** What a control plane is doing when a step is checked. */
export interface StepSituation {
  /** How many Machines are to be replaced. */
  readonly outdated: number;
  /** A Machine was deleted by a remediation, and its replacement does not exist yet. */
  readonly remediating: boolean;
}

/** Explains why a step that creates or replaces Machines would fail; undefined for other steps. */
export function stepProblem(
  { desired, cluster, key, context }: OwnedScope,
  machines: readonly Machine[],
  step: Step,
  { workload, capacitySources }: PreconditionDeps,
  { outdated, remediating }: StepSituation,
): RolloutProblem | undefined {
  const replaces = step.type === "delete" && step.why === "rollout";
  if (!replaces && step.type !== "create") return undefined;
  // A control plane that has lost a Machine gets another one, whatever stops a rollout.
  const replacing = replaces || (outdated > 0 && !remediating);
  const changesVersion = machines.some(({ spec }) => spec.version !== desired.spec.version);
  return rolloutProblem({
    controlPlane: desired,
    replacing,
    machines: machines.length,
    free: freeMachines(desired, cluster, capacitySources, context.cache, context.clock.now()),
    skew: replacing && changesVersion ? nodesRefuse(workload, key, desired.spec.version) : undefined,
  });
}
