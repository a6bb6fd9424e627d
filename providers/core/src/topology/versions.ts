import semver from "semver";

/** Workers may be this many minor versions behind the control plane. */
const MAX_SKEW = 3;

/** Observed version and upgrade state of a MachineDeployment or MachinePool. */
export interface WorkerVersion {
  name: string;
  /** The version in its spec; undefined if it does not exist yet. */
  current: string | undefined;
  /** Whether some of its Machines still have another version. */
  upgrading: boolean;
  /** Whether an annotation defers its upgrade. */
  deferred: boolean;
}

/** The observed versions of a cluster. */
export interface VersionInput {
  wanted: string;
  /** Undefined if it does not exist yet. */
  controlPlane: { spec: string; status: string | undefined } | undefined;
  workers: readonly WorkerVersion[];
  /** Intermediate versions of upgrades, if the class lists them. */
  steps: readonly string[];
  /** How many MachineDeployments and MachinePools are upgraded at the same time. */
  concurrency: number;
  /** Annotations that block upgrades of the control plane. */
  hooks: readonly string[];
}

/** Which version each part should have now, and why some do not have the desired one yet. */
export interface VersionPlan {
  controlPlane: string;
  /** Versions of workers by name; those that are absent are not created yet. */
  workers: Map<string, string>;
  controlPlaneUpgrading: boolean;
  controlPlanePending: boolean;
  /** Annotations that keep the control plane's upgrade from starting now. */
  heldBy: readonly string[];
  upgrading: string[];
  pending: string[];
  deferred: string[];
  pendingCreate: string[];
}

/**
 * Plans an upgrade in order: first the control plane, step by step while nothing else changes, then workers with limited concurrency. New
 * workers wait until the control plane is stable. Pure.
 */
export function planVersions(input: VersionInput): VersionPlan {
  const { wanted, controlPlane, workers } = input;
  const busy = controlPlane !== undefined && !isSettled(controlPlane);
  const workersBusy = workers.filter((worker) => worker.upgrading).map(({ name }) => name);
  const current = controlPlane?.spec ?? wanted;
  const next = nextStep(current, wanted, input.steps);
  const tooOld = next !== undefined && workers.some((worker) => skew(next, worker.current) > MAX_SKEW);
  const may = controlPlane !== undefined && next !== undefined && !busy && workersBusy.length === 0 && !tooOld;
  const starts = may && input.hooks.length === 0;
  const version = starts ? next : current;
  const plan: VersionPlan = {
    controlPlane: version,
    workers: new Map(),
    controlPlaneUpgrading: starts || (busy && controlPlane.status !== undefined),
    controlPlanePending: next !== undefined && !starts,
    heldBy: may ? input.hooks : [],
    upgrading: [...workersBusy],
    pending: [],
    deferred: [],
    pendingCreate: [],
  };
  const stable = !busy && !starts;
  // Workers follow when the control plane has arrived, or in between if it could not continue without them.
  const follow = stable && (next === undefined || tooOld);
  for (const worker of workers) placeWorker(worker, plan, { ...input, current, stable, follow });
  return plan;
}

function placeWorker(
  worker: WorkerVersion,
  plan: VersionPlan,
  state: { wanted: string; concurrency: number; current: string; stable: boolean; follow: boolean },
): void {
  const { name, current } = worker;
  if (current === undefined) {
    if (state.stable && state.current === state.wanted) plan.workers.set(name, state.wanted);
    else plan.pendingCreate.push(name);
    return;
  }
  plan.workers.set(name, current);
  if (current === state.current && current === state.wanted) return;
  if (worker.deferred) plan.deferred.push(name);
  else if (!state.follow || current === state.current || plan.upgrading.length >= state.concurrency) {
    if (!worker.upgrading) plan.pending.push(name);
  } else {
    plan.workers.set(name, state.current);
    if (!plan.upgrading.includes(name)) plan.upgrading.push(name);
  }
}

function isSettled({ spec, status }: { spec: string; status: string | undefined }): boolean {
  return status !== undefined && compare(status, spec) >= 0;
}

/** The next version on the way; undefined when it is reached. */
function nextStep(current: string, wanted: string, steps: readonly string[]): string | undefined {
  if (current === wanted) return undefined;
  const ahead = steps.filter((step) => compare(step, current) > 0 && compare(step, wanted) < 0);
  const [first = wanted] = ahead;
  // Patch versions of one minor need no stop each: its last one leads on, and in the wanted minor the wanted one itself.
  return [...ahead, wanted].findLast((step) => sameMinor(step, first)) ?? wanted;
}

function sameMinor(a: string, b: string): boolean {
  const [x, y] = [semver.parse(a), semver.parse(b)];
  return x !== null && y !== null ? x.major === y.major && x.minor === y.minor : a === b;
}

/** Returns the oldest version; undefined if there are none. */
export function lowestVersion(versions: readonly string[]): string | undefined {
  return versions.reduce<string | undefined>(
    (lowest, version) => (lowest === undefined || compare(version, lowest) < 0 ? version : lowest),
    undefined,
  );
}

function skew(a: string, b: string | undefined): number {
  const [x, y] = [semver.parse(a), semver.parse(b ?? a)];
  return x === null || y === null ? 0 : x.minor - y.minor;
}

function compare(a: string, b: string): number {
  const [x, y] = [semver.parse(a), semver.parse(b)];
  if (x === null || y === null) return a === b ? 0 : -1;
  return semver.compare(x, y);
}
