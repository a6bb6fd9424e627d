import { type ControlPlaneView, isDeleting, type MachineView } from "./view.ts";

/** The failure domain for a new Machine: the one with the fewest up-to-date Machines, then with the fewest Machines at all. */
export function domainForNew({ failureDomains, machines }: ControlPlaneView): string | undefined {
  const usable = failureDomains.filter(({ controlPlane }) => controlPlane).map(({ name }) => name);
  const lasting = machines.filter((machine) => machine.upToDate && !isDeleting(machine));
  return first(
    usable,
    (a, b) => countIn(a, lasting) - countIn(b, lasting) || countIn(a, machines) - countIn(b, machines),
  );
}

/**
 * The failure domain to remove a Machine from: one that is no longer offered to control planes, else the one with most Machines that may be
 * removed, then with most Machines at all.
 */
export function domainToShrink(
  { failureDomains, machines }: ControlPlaneView,
  eligible: readonly MachineView[],
): string | undefined {
  const usable = failureDomains.filter(({ controlPlane }) => controlPlane).map(({ name }) => name);
  const outside = eligible.filter(({ failureDomain }) => !usable.includes(failureDomain ?? ""));
  if (outside.length > 0) return oldest(outside)?.failureDomain;
  return first(
    usable,
    (a, b) => countIn(b, eligible) - countIn(a, eligible) || countIn(b, machines) - countIn(a, machines),
  );
}

/** The Machine that was created first; of several the one whose name comes first. */
export function oldest(machines: readonly MachineView[]): MachineView | undefined {
  return first(machines, (a, b) => a.createdMs - b.createdMs || (a.name < b.name ? -1 : 1));
}

function countIn(domain: string, machines: readonly MachineView[]): number {
  return machines.filter(({ failureDomain }) => failureDomain === domain).length;
}

function first<T>(items: readonly T[], compare: (a: T, b: T) => number): T | undefined {
  return [...items].sort(compare)[0];
}
