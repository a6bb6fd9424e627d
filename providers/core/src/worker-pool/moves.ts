import type { MemberView, PoolView } from "./plan.ts";

type Counts = ReadonlyMap<string, number>;

/**
 * Computes the next step towards `ideal`. A move creates the new Machine first and deletes the old one once enough are available without
 * it. Excess Machines, and those that a member in trouble cannot start, are removed at once.
 */
export function movesTowards(
  ideal: Counts,
  capacity: Counts,
  pool: PoolView,
  order: readonly MemberView[],
): Map<string, number> {
  const least = [...order].reverse();
  // Neither machines that a member in trouble cannot bring up nor those above a maximum are worth keeping.
  const result = new Map(order.map((member) => [member.name, Math.min(member.current, numberOf(capacity, member))]));
  const surge = Math.max(1, pool.maxUnavailable);
  shrink(result, ideal, pool.replicas, surge, least);
  const missing = Math.max(0, pool.replicas - sumOf(result));
  // Machines that come up anyway are enough in motion; nor does the pool grow by more than one move's worth.
  const inMotion = missing + order.reduce((sum, member) => sum + idleOf(result, member), 0);
  const extra = surge - Math.max(inMotion, sumOf(result) - pool.replicas);
  grow(result, ideal, missing + Math.max(0, extra), order);
  return result;
}

/** Removes surplus machines, from the least preferred member first. */
function shrink(
  result: Map<string, number>,
  ideal: Counts,
  replicas: number,
  surge: number,
  least: readonly MemberView[],
): void {
  const idle = (member: MemberView): number => idleOf(result, member);
  const available = (member: MemberView): number => numberOf(result, member) - idle(member);
  const total = (of: (member: MemberView) => number): number => least.reduce((sum, member) => sum + of(member), 0);
  let surplus = sumOf(result) - replicas;
  const take = (member: MemberView, most: number): void => {
    const count = Math.max(0, Math.min(most, numberOf(result, member) - numberOf(ideal, member), surplus));
    result.set(member.name, numberOf(result, member) - count);
    surplus -= count;
  };
  for (const member of least) {
    const spare = total(available) - replicas;
    // Starting machines are not deleted in favor of other starting ones: which of them will work is unknown.
    const expendable = spare >= 0 || total(idle) === idle(member) ? idle(member) : 0;
    take(member, expendable + Math.max(0, spare));
  }
  // More than a move needs: a smaller pool was requested, and that does not wait.
  for (const member of least) take(member, Math.max(0, Math.min(idle(member), surplus - surge)));
  for (const member of least) take(member, Math.max(0, surplus - surge));
}

/** Gives `room` more machines to those who lack some: minimums first, then in the strategy's order. */
function grow(result: Map<string, number>, ideal: Counts, room: number, order: readonly MemberView[]): void {
  let left = room;
  for (const most of [(member: MemberView) => member.min, () => Number.POSITIVE_INFINITY])
    for (const member of order) {
      const lacks = Math.min(numberOf(ideal, member), most(member)) - numberOf(result, member);
      const more = Math.max(0, Math.min(lacks, left));
      result.set(member.name, numberOf(result, member) + more);
      left -= more;
    }
}

/** Machines of a member that are to stay and are not available. */
function idleOf(result: Counts, member: MemberView): number {
  return Math.max(0, numberOf(result, member) - member.available);
}

function numberOf(counts: Counts, member: MemberView): number {
  return counts.get(member.name) ?? 0;
}

function sumOf(counts: Counts): number {
  return [...counts.values()].reduce((sum, count) => sum + count, 0);
}
