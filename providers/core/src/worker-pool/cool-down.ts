import { RETRY_ANNOTATION, type WorkerPool } from "@capstan/capi";
import type { MemberObservation } from "./observe.ts";

/** A member that is well again and is not asked for more yet. */
export interface CoolDown {
  sinceMs: number;
  /** What was wrong. */
  cause: "Full" | "Broken" | "Unhealthy";
}

/** The reason of a member whose Machines joined and broke later: its provider did not fail when asked. */
export const BROKEN = "MachineBroken";

/** Whether a member that cools down gets Machines as soon as its provider has room; one that failed when asked does not. */
export function usesRoom(cause: CoolDown["cause"] | undefined): boolean {
  return cause === "Full" || cause === "Broken";
}

const MAX_RETRY_LENGTH = 64;

/** The request of a person to end all cool-downs. It is compared, not read as a time: clocks differ. */
export function retryOf({ metadata }: WorkerPool): string | undefined {
  return metadata.annotations?.[RETRY_ANNOTATION]?.slice(0, MAX_RETRY_LENGTH);
}

/** Members that are well now and were not when the status was last written, or that still cool down. */
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
