import type { Condition } from "@capstan/apimachinery";

/** Conditions of the older API that providers of today still read; Metal3 waits for InfrastructureReady. */
const MIRRORED: Record<string, string> = {
  Available: "Ready",
  InfrastructureReady: "InfrastructureReady",
  ControlPlaneInitialized: "ControlPlaneInitialized",
  ControlPlaneAvailable: "ControlPlaneReady",
};

/** A condition in the form of v1beta1. */
export interface DeprecatedCondition {
  type: string;
  status: string;
  severity?: string;
  lastTransitionTime: string;
  reason?: string;
  message?: string;
}

/** Returns the conditions that v1beta1 also has, in its form: with severity, and with reason and message only if not True. */
export function deprecatedConditions(conditions: readonly Condition[]): DeprecatedCondition[] {
  return conditions.flatMap(({ type, status, reason, message, lastTransitionTime }) => {
    const old = MIRRORED[type];
    if (old === undefined) return [];
    const trouble = status === "True" ? {} : { severity: "Info", reason, message };
    return [{ type: old, status, lastTransitionTime, ...trouble }];
  });
}
