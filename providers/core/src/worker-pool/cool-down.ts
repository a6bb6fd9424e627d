import { RETRY_ANNOTATION, type WorkerPool } from "@capstan/capi";
import type { MemberObservation } from "./observe.ts";

/** A member that has recovered but does not get more replicas yet. */
export interface CoolDown {
  sinceMs: number;
  /** The state from which it recovered. */
  cause: "Full" | "Broken" | "Unhealthy";
}

/** Reason of a member whose Machines joined and failed later, which is not a failure of its provider to create them. */
export const BROKEN = "MachineBroken";

/**
 * Reports whether a member that cools down gets Machines as soon as its provider has capacity; not if the provider failed to create them.
 */
export function usesRoom(cause: CoolDown["cause"] | undefined): boolean {
  return cause === "Full" || cause === "Broken";
}

const MAX_RETRY_LENGTH = 64;

/** Returns the user's request to end all cool-downs. It is compared for equality and not parsed as a time, because clocks differ. */
export function retryOf({ metadata }: WorkerPool): string | undefined {
  return metadata.annotations?.[RETRY_ANNOTATION]?.slice(0, MAX_RETRY_LENGTH);
}

/** Returns the members that have recovered since the last status update, or that still cool down. */
export function coolDowns(
  pool: WorkerPool,
  observed: readonly MemberObservation[],
  nowMs: number,
): Map<string, CoolDown> {
  const result = new Map<string, CoolDown>();
  const retry = retryOf(pool);
  if (retry !== undefined && retry !== pool.status?.lastRetry) return result;
  for (const member of observed) {
    const before = pool.status?.members?.find((status) => status.name === member.name);
    if (member.health !== "Good" || before === undefined || before.state === "Active") continue;
    const sinceMs = Date.parse(before.since);
    if (before.state === "CoolingDown") result.set(member.name, { sinceMs, cause: before.cause ?? "Unhealthy" });
    else result.set(member.name, { sinceMs: nowMs, cause: before.reason === BROKEN ? "Broken" : before.state });
  }
  return result;
}
