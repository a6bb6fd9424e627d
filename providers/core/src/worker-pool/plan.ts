import { movesTowards } from "./moves.ts";

/** How replicas are distributed: by cost, in list order, or in proportion to weights. */
export type Strategy = "Cheapest" | "Ordered" | "Weighted";

/** A member as the planner sees it. */
export interface MemberView {
  name: string;
  min: number;
  max: number;
  /** Price of one machine, for Cheapest. */
  cost: number;
  weight: number;
  /** Replicas of the member's MachineDeployment now. */
  current: number;
  /** Machines that are available now. */
  available: number;
  /** Machines that are available or starting normally, which a member in trouble keeps. Defaults to `available`. */
  working?: number;
  /** `Full`: its provider reports no capacity; `Unhealthy`: Machines fail or take too long to become available. */
  health: "Good" | "Full" | "Unhealthy";
  /** Machines that its provider can create now in addition to those requested; used even while it cools down. Default 0. */
  room?: number;
  /** Whether the member was removed from the spec; its working Machines stay until they are replaced. */
  leaving?: boolean;
}

/** Everything that the distribution of replicas depends on. */
export interface PoolView {
  replicas: number;
  strategy: Strategy;
  members: readonly MemberView[];
  /** How many Machines move between members at the same time; 0 counts as 1, because a move creates the new Machine first. */
  maxUnavailable: number;
  /** How long a member must be healthy before replicas return to it. */
  returnAfterMs: number;
  nowMs: number;
  /** When members recovered; they cool down before they get more replicas. */
  recoveredAt: ReadonlyMap<string, number>;
}

/** Whether a member gets replicas, has no capacity, has failing Machines, or is recovering. */
export type MemberState = "Active" | "Full" | "Unhealthy" | "CoolingDown";

/** Planned replicas and state of a member. */
export interface MemberPlan {
  name: string;
  desired: number;
  state: MemberState;
}

/** Planned replicas of all members. */
export interface PoolPlan {
  members: MemberPlan[];
  /** Replicas that fit on no member. */
  unplaced: number;
}

/**
 * Distributes replicas: every member's minimum first, then by strategy, up to its maximum and, if it is in trouble, up to its working
 * Machines. Replicas return to a recovered member slowly; no working Machine is deleted before its replacement works.
 */
export function planPool(pool: PoolView): PoolPlan {
  const states = new Map(pool.members.map((member) => [member.name, stateOf(member, pool)]));
  const capacity = new Map(
    pool.members.map((member) => [member.name, capacityOf(member, states.get(member.name) ?? "Active")]),
  );
  const ideal = spread(pool, capacity);
  const next = movesTowards(ideal, capacity, pool, ordered(pool));
  const placed = [...next.values()].reduce((sum, count) => sum + count, 0);
  return {
    members: pool.members.map((member) => ({
      name: member.name,
      desired: next.get(member.name) ?? 0,
      state: states.get(member.name) ?? "Active",
    })),
    unplaced: Math.max(0, pool.replicas - placed),
  };
}

function stateOf(member: MemberView, pool: PoolView): MemberState {
  if (member.health !== "Good") return member.health;
  const recovered = pool.recoveredAt.get(member.name);
  return recovered !== undefined && pool.nowMs - recovered < pool.returnAfterMs ? "CoolingDown" : "Active";
}

/** How many replicas a member can carry in its state: one in trouble keeps what works and gets nothing new. */
function capacityOf(member: MemberView, state: MemberState): number {
  switch (state) {
    case "Active":
      return member.leaving === true ? member.current : member.max;
    case "CoolingDown":
      return Math.min(member.max, Math.max(member.current, member.min) + (member.room ?? 0));
    case "Full":
    case "Unhealthy":
      return Math.min(member.max, Math.max(member.working ?? 0, member.available));
  }
}

/** Where replicas would be if moving cost nothing. */
function spread(pool: PoolView, capacity: ReadonlyMap<string, number>): Map<string, number> {
  const order = ordered(pool).filter(({ leaving }) => leaving !== true);
  const result = new Map(pool.members.map((member) => [member.name, 0]));
  let left = pool.replicas;
  const give = (member: MemberView, wanted: number): void => {
    const has = result.get(member.name) ?? 0;
    const extra = Math.max(0, Math.min(wanted - has, (capacity.get(member.name) ?? 0) - has, left));
    result.set(member.name, has + extra);
    left -= extra;
  };
  for (const member of order) give(member, member.min);
  if (pool.strategy === "Weighted") giveByWeight(order, result, capacity, left, give);
  for (const member of order) give(member, member.max);
  return result;
}

/** In proportion to the weights of those that still have room, the largest remainders first. */
function giveByWeight(
  order: readonly MemberView[],
  result: ReadonlyMap<string, number>,
  capacity: ReadonlyMap<string, number>,
  left: number,
  give: (member: MemberView, wanted: number) => void,
): void {
  const open = order.filter(
    (member) => (result.get(member.name) ?? 0) < (capacity.get(member.name) ?? 0) && member.weight > 0,
  );
  const total = open.reduce((sum, member) => sum + member.weight, 0);
  if (total === 0) return;
  const all = left + open.reduce((sum, member) => sum + (result.get(member.name) ?? 0), 0);
  const shares = open.map((member) => ({ member, exact: (all * member.weight) / total }));
  for (const { member, exact } of shares) give(member, Math.floor(exact));
  for (const { member } of shares.sort((a, b) => (b.exact % 1) - (a.exact % 1)))
    give(member, (result.get(member.name) ?? 0) + 1);
}

/** The most preferred first, those that leave last. */
function ordered(pool: PoolView): MemberView[] {
  const staying = pool.members.filter(({ leaving }) => leaving !== true);
  // Array.prototype.sort is stable: equal prices keep the list's order.
  if (pool.strategy === "Cheapest") staying.sort((a, b) => a.cost - b.cost);
  return [...staying, ...pool.members.filter(({ leaving }) => leaving === true)];
}
