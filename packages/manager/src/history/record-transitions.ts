import { findCondition, type KubeObject } from "@capstan/apimachinery";
import { Cluster, conditionsOf, Machine, MachineDeployment, WorkerPool } from "@capstan/capi";
import type { Cache, Kind, Recorder } from "@capstan/runtime";

/** Conditions whose changes are recorded, by kind: others follow from these or are reported by their own controller. */
const REMEMBERED: readonly (readonly [Kind<KubeObject>, readonly string[]])[] = [
  [Cluster as unknown as Kind<KubeObject>, ["Available", "Paused"]],
  [WorkerPool as unknown as Kind<KubeObject>, ["Available"]],
  [MachineDeployment as unknown as Kind<KubeObject>, ["Available", "RollingOut"]],
  [Machine as unknown as Kind<KubeObject>, ["Ready"]],
];
const ABOUT_TROUBLE = ["Available", "Ready"];

/**
 * Records the transitions of conditions as Events, because an object only stores the last one. The state found at startup is not recorded,
 * since nothing changes while no manager is running.
 */
export function recordTransitions(cache: Cache, recorder: Recorder): () => void {
  const removals = REMEMBERED.map(([kind, types]) =>
    cache.informer(kind).addHandler({ update: (object, old) => tell(object, old, types, recorder) }),
  );
  return () => {
    for (const remove of removals) remove();
  };
}

function tell(object: KubeObject, old: KubeObject, types: readonly string[], recorder: Recorder): void {
  for (const type of types) {
    const was = findCondition(conditionsOf(old as { status?: unknown }), type);
    const is = findCondition(conditionsOf(object as { status?: unknown }), type);
    // Its first status is not a transition.
    if (was === undefined || is === undefined || was.status === is.status) continue;
    const level = ABOUT_TROUBLE.includes(type) && is.status !== "True" ? "Warning" : "Normal";
    const why = is.message === "" ? "" : `: ${is.message}`;
    recorder.event(object, level, is.reason, "Observe", `${type} is ${is.status}${why}`);
  }
}
