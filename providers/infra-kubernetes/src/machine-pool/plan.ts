import { findCondition } from "@capstan/apimachinery";
import { conditionsOf } from "@capstan/capi";
import type { KubernetesMachine } from "../kinds/kubernetes-machine.ts";

/** Annotation of a pool's machine with a digest of what it was made from. */
export const TEMPLATE_ANNOTATION = "kubernetes.infrastructure.cluster.x-k8s.io/pool-template";

/** What a pool has to do next. */
export interface PoolPlan {
  readonly create: number;
  readonly remove: readonly KubernetesMachine[];
}

/**
 * Returns what brings a pool nearer to so many machines of a template. `living` are those that are not being deleted. Machines of an older template are replaced one by one: a new one
 * first, and one of the old goes when there are enough ready machines without it.
 */
export function planPool(
  living: readonly KubernetesMachine[],
  wanted: number,
  template: string,
  leaveFirst: ReadonlySet<string>,
): PoolPlan {
  const old = living.filter(({ metadata }) => metadata.annotations?.[TEMPLATE_ANNOTATION] !== template);
  const surge = old.length > 0 && wanted > 0 ? 1 : 0;
  const create = Math.max(0, wanted + surge - living.length);
  const excess = living.length - wanted;
  if (excess <= 0) return { create, remove: [] };
  const rank = (machine: KubernetesMachine): string =>
    [
      leaveFirst.has(machine.metadata.name ?? "") ? 0 : 1,
      isReady(machine) ? 1 : 0,
      old.includes(machine) ? 0 : 1,
      machine.metadata.name,
    ].join(" ");
  const order = living.toSorted((a, b) => rank(a).localeCompare(rank(b)));
  const ready = living.filter(isReady).length;
  if (old.length === 0) return { create, remove: order.slice(0, excess) };
  const dispensable = order.filter((machine) => old.includes(machine) || leaveFirst.has(machine.metadata.name ?? ""));
  const first = dispensable.filter((machine) => !isReady(machine));
  const remove = [...first, ...dispensable.filter(isReady).slice(0, Math.max(0, ready - wanted))];
  return { create, remove: remove.slice(0, excess) };
}

/** Returns whether a machine is ready. */
export function isReady(machine: KubernetesMachine): boolean {
  return findCondition(conditionsOf(machine), "Ready")?.status === "True";
}
