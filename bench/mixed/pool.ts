/** One replica count over five members, one of which fails: runs the planner until nothing changes. */
import { type MemberView, planPool } from "@capstan/core";

const MEMBERS = ["a", "b", "c", "d", "e"];

export interface PoolFigure {
  milliseconds: number;
  /** How many plans changed anything. */
  plans: number;
  /** Machines of healthy members that were deleted. */
  replaced: number;
}

export function failMember(replicas: number): PoolFigure {
  const share = replicas / MEMBERS.length;
  let members: MemberView[] = MEMBERS.map((name) => ({
    name,
    min: 0,
    max: replicas,
    cost: 1,
    weight: 1,
    current: share,
    available: share,
    health: "Good",
  }));
  members = members.map((member) => (member.name === "e" ? { ...member, available: 0, health: "Unhealthy" } : member));
  const begun = performance.now();
  let plans = 0;
  let replaced = 0;
  for (;;) {
    const pool = {
      replicas,
      strategy: "Weighted" as const,
      members,
      maxUnavailable: 1,
      returnAfterMs: 900_000,
      nowMs: 0,
    };
    const plan = planPool({ ...pool, recoveredAt: new Map() });
    const desired = new Map(plan.members.map((member) => [member.name, member.desired]));
    if (members.every(({ name, current }) => desired.get(name) === current)) break;
    plans++;
    replaced += members
      .filter(({ health }) => health === "Good")
      .reduce((sum, { name, current }) => sum + Math.max(0, current - (desired.get(name) ?? 0)), 0);
    // Requested machines start, except at the member that fails.
    members = members.map((member) => {
      const current = desired.get(member.name) ?? 0;
      return { ...member, current, available: member.health === "Good" ? current : 0 };
    });
  }
  return { milliseconds: performance.now() - begun, plans, replaced };
}
