/** A MachineSet as the planner sees it. */
export interface PlannedSet {
  readonly name: string;
  /** Whether it has the deployment's current template. */
  readonly current: boolean;
  /** Desired replicas of the set. */
  readonly replicas: number;
  /** Existing Machines, including those being deleted. */
  readonly machines: number;
  readonly available: number;
  /** Creation time; the oldest set is scaled down first. */
  readonly createdAt: number;
}

/** The state of a MachineDeployment that a rollout step depends on. */
export interface RolloutInput {
  readonly strategy: "RollingUpdate" | "OnDelete";
  readonly paused: boolean;
  readonly desired: number;
  /** How many Machines may exist above the desired number, and be unavailable below it, during the rollout. */
  readonly maxSurge: number;
  readonly maxUnavailable: number;
  readonly sets: readonly PlannedSet[];
}

/** How many replicas each MachineSet should have now, and the reason for changes. */
export interface RolloutPlan {
  readonly replicas: ReadonlyMap<string, number>;
  readonly notes: readonly string[];
}

/** Computes the next step of a rollout. Pure and idempotent: the same state always results in the same step. */
export function planRollout(input: RolloutInput): RolloutPlan {
  const draft = new Draft(input);
  if (input.paused) scaleProportionally(draft);
  else if (input.strategy === "OnDelete") planOnDelete(draft);
  else planRollingUpdate(draft);
  return { replicas: draft.replicas, notes: draft.notes };
}

/** Replicas on the way to the plan. */
class Draft {
  readonly input: RolloutInput;
  readonly replicas = new Map<string, number>();
  readonly notes: string[] = [];
  readonly current: PlannedSet | undefined;
  /** Oldest first. */
  readonly old: readonly PlannedSet[];

  constructor(input: RolloutInput) {
    this.input = input;
    this.current = input.sets.find((set) => set.current);
    this.old = input.sets
      .filter((set) => set !== this.current)
      .sort((a, b) => a.createdAt - b.createdAt || (a.name < b.name ? -1 : 1));
    for (const set of input.sets) this.replicas.set(set.name, set.replicas);
  }

  of(set: PlannedSet): number {
    return this.replicas.get(set.name) ?? set.replicas;
  }

  scale(set: PlannedSet, replicas: number, why: string): void {
    const before = this.of(set);
    if (before === replicas) return;
    this.replicas.set(set.name, replicas);
    this.notes.push(`Scaled MachineSet ${set.name} from ${before} to ${replicas}: ${why}`);
  }

  get changed(): boolean {
    return this.notes.length > 0;
  }

  sum(value: (set: PlannedSet) => number): number {
    return this.input.sets.reduce((total, set) => total + value(set), 0);
  }
}

function planRollingUpdate(draft: Draft): void {
  scaleCurrent(draft);
  scaleOld(draft);
  if (!draft.changed) breakDeadlock(draft);
}

/** The current set grows into the room that the surge leaves, or shrinks to the desired replicas. */
function scaleCurrent(draft: Draft): void {
  const { current, input } = draft;
  if (current === undefined) return;
  const have = draft.of(current);
  if (have > input.desired) {
    draft.scale(current, input.desired, "more than desired");
    return;
  }
  const existing = draft.sum((set) => Math.max(draft.of(set), set.machines));
  const room = input.desired + input.maxSurge - existing;
  const step = Math.min(input.desired - have, room);
  if (step > 0) draft.scale(current, have + step, `${input.desired} desired`);
}

/** Machines that are being deleted and still exist. */
const pending = (draft: Draft, set: PlannedSet): number => Math.max(0, set.machines - draft.of(set));

/** Old sets shrink, oldest first, unavailable replicas first, as far as enough stays available. */
function scaleOld(draft: Draft): void {
  const { input, current, old } = draft;
  const minAvailable = input.desired - input.maxUnavailable;
  const missing = current === undefined ? 0 : Math.max(0, draft.of(current) - current.available);
  const asked = draft.sum((set) => draft.of(set));
  let room = asked - minAvailable - missing;
  for (const set of old) {
    const unavailable = Math.max(0, draft.of(set) - set.available);
    room -= shrink(draft, set, Math.min(room, unavailable), minAvailable, "unavailable");
  }
  for (const set of old) room -= shrink(draft, set, room, minAvailable, "replaced");
}

/** Shrinks a set by at most so many, assuming that the Machines which go are available ones. */
function shrink(draft: Draft, set: PlannedSet, limit: number, minAvailable: number, why: string): number {
  const have = draft.of(set);
  const most = Math.min(limit, have);
  for (let step = most; step > 0; step--) {
    // Deleting an unavailable Machine does not reduce availability.
    if (availableIf(draft, set, set) === 0 || availableIf(draft, set, undefined, have - step) >= minAvailable) {
      draft.scale(set, have - step, why);
      return step;
    }
  }
  return 0;
}

/** Replicas sure to be available: in all sets with one at another size, or of one set alone. */
function availableIf(draft: Draft, changed: PlannedSet, only: PlannedSet | undefined, size?: number): number {
  const sure = (set: PlannedSet): number => {
    const replicas = set === changed && size !== undefined ? size : draft.of(set);
    const going = Math.max(0, Math.max(set.machines, set.replicas) - replicas);
    return Math.max(0, Math.min(set.available, set.available - going));
  };
  return only === undefined ? draft.sum(sure) : sure(only);
}

/**
 * Unavailable replicas of old sets may take the room that the new ones need, while assuming the worst forbids to remove them. When
 * nothing moves any more, one goes.
 */
function breakDeadlock(draft: Draft): void {
  const { input, current, old } = draft;
  if (current === undefined || draft.of(current) >= input.desired) return;
  const moving = input.sets.some((set) => set.machines !== set.replicas) || current.available < current.replicas;
  if (moving) return;
  const stuck = old.find((set) => set.replicas > 0 && set.available < set.replicas);
  if (stuck !== undefined) draft.scale(stuck, stuck.replicas - 1, "unavailable replicas hold up the rollout");
}

/** Old Machines stay until the user deletes them; each deletion makes room for a new one. */
function planOnDelete(draft: Draft): void {
  const { input, current, old } = draft;
  for (const set of old) if (set.machines < set.replicas) draft.scale(set, set.machines, "Machines were deleted");
  const oldTotal = (): number => old.reduce((total, set) => total + draft.of(set), 0);
  const have = current === undefined ? 0 : draft.of(current);
  let surplus = oldTotal() + have - input.desired;
  for (const set of old) {
    if (surplus <= 0) break;
    const step = Math.min(surplus, draft.of(set));
    draft.scale(set, draft.of(set) - step, "more than desired");
    surplus -= step;
  }
  if (current === undefined) return;
  if (surplus > 0) draft.scale(current, have - surplus, "more than desired");
  else if (surplus < 0) {
    // Machines that are being deleted count: their successors are created once they are deleted.
    const leaving = old.reduce((total, set) => total + pending(draft, set), 0);
    const step = Math.min(-surplus, input.desired - oldTotal() - leaving - have);
    if (step > 0) draft.scale(current, have + step, "Machines were deleted");
  }
}

/** A paused rollout only scales: every set by its share, the largest first, so that no revision loses more than others. */
function scaleProportionally(draft: Draft): void {
  const { input } = draft;
  const active = input.sets.filter((set) => set.replicas > 0);
  const [only] = active;
  if (active.length <= 1) {
    const target = only ?? draft.current;
    if (target !== undefined) draft.scale(target, input.desired, "scaled while paused");
    return;
  }
  const total = active.reduce((sum, set) => sum + set.replicas, 0);
  const allowed = input.desired > 0 ? input.desired + input.maxSurge : 0;
  // A rollout stopped half way has its surge and keeps it; less than desired is filled up, more than allowed goes.
  const wanted = Math.min(Math.max(total, input.desired), allowed);
  let rest = wanted - total;
  const sorted = [...active].sort(
    (a, b) => b.replicas - a.replicas || a.createdAt - b.createdAt || (a.name < b.name ? -1 : 1),
  );
  const change = rest;
  for (const set of sorted) {
    const share = Math.round((set.replicas * change) / total);
    const step = change > 0 ? Math.min(share, rest) : Math.max(share, rest, -set.replicas);
    draft.scale(set, set.replicas + step, "scaled while paused");
    rest -= step;
  }
  const [largest] = sorted;
  if (rest !== 0 && largest !== undefined)
    draft.scale(largest, Math.max(0, draft.of(largest) + rest), "scaled while paused");
}
