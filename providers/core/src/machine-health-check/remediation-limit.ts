import { scaledValue } from "@capstan/apimachinery";
import type { ConditionInput } from "@capstan/capi";

const DEFAULT_LIMIT = "100%";

/** The limits in the spec within which remediation is allowed. */
export interface RemediationTrigger {
  unhealthyLessThanOrEqualTo?: number | string;
  unhealthyInRange?: string;
}

/** Whether remediation is allowed now, and for how many more Machines. */
export interface RemediationPermission {
  allowed: boolean;
  remaining: number;
  condition: ConditionInput;
}

/**
 * Decides whether remediation is allowed. All Machines that are not known to be healthy count, also those still starting: many failures at
 * once rarely come from the machines, and replacing them would make it worse.
 */
export function remediationPermission(
  trigger: RemediationTrigger | undefined,
  counts: { total: number; healthy: number; unhealthy: number },
): RemediationPermission {
  const notHealthy = counts.total - counts.healthy;
  const range = trigger?.unhealthyInRange;
  const limit = trigger?.unhealthyLessThanOrEqualTo ?? DEFAULT_LIMIT;
  const bounds = range === undefined ? atMost(limit, counts.total) : parseRange(range);
  if (bounds === undefined)
    return denied(
      "InternalError",
      range === undefined
        ? `spec.remediation.triggerIf.unhealthyLessThanOrEqualTo: ${String(limit)} is neither a number of Machines nor a percentage such as 40%`
        : `spec.remediation.triggerIf.unhealthyInRange: ${range} is not a range such as [3-5]`,
    );
  if (notHealthy >= bounds.min && notHealthy <= bounds.max)
    return {
      allowed: true,
      remaining: bounds.max - notHealthy,
      condition: { type: "RemediationAllowed", status: "True", reason: "RemediationAllowed", message: "" },
    };
  const numbers = `total: ${counts.total}, unhealthy: ${counts.unhealthy}`;
  return denied(
    "TooManyUnhealthy",
    range === undefined
      ? `Remediation is not allowed, the number of not started or unhealthy machines exceeds maxUnhealthy (${numbers}, maxUnhealthy: ${String(limit)})`
      : `Remediation is not allowed, the number of not started or unhealthy machines does not fall within the range (${numbers}, unhealthyRange: ${range})`,
  );
}

function denied(reason: string, message: string): RemediationPermission {
  return {
    allowed: false,
    remaining: 0,
    condition: { type: "RemediationAllowed", status: "False", reason, message },
  };
}

interface Bounds {
  min: number;
  max: number;
}

function atMost(limit: number | string, total: number): Bounds | undefined {
  if (typeof limit === "string" && !/^\d{1,9}%$/.test(limit)) return undefined;
  if (typeof limit === "number" && limit < 0) return undefined;
  return { min: 0, max: scaledValue(limit, total, false) };
}

function parseRange(text: string): Bounds | undefined {
  const match = /^\[(\d{1,9})-(\d{1,9})\]$/.exec(text);
  if (match === null) return undefined;
  const [min, max] = [Number(match[1]), Number(match[2])];
  return min <= max ? { min, max } : undefined;
}
