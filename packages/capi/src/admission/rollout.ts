import type { AdmissionProblem } from "../schema/kind.ts";
import { amountProblems, invalid } from "./problems.ts";

interface Strategy {
  rollingUpdate?: { maxSurge?: number | string; maxUnavailable?: number | string };
}

/** A rollout needs one limit above 0 to make progress. */
export function rolloutProblems(strategy: Strategy | undefined, field: string): AdmissionProblem[] {
  const { maxSurge, maxUnavailable } = strategy?.rollingUpdate ?? {};
  return [
    ...amountProblems(maxUnavailable, `${field}.rollingUpdate.maxUnavailable`),
    ...amountProblems(maxSurge, `${field}.rollingUpdate.maxSurge`),
    ...(maxSurge === 0 && maxUnavailable === 0
      ? [invalid(`${field}.rollingUpdate`, 0, "maxUnavailable and maxSurge cannot both be 0")]
      : []),
  ];
}
