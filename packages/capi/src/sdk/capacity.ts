import type { KubeObject } from "@capstan/apimachinery";
import type { Cache, ObjectKey } from "@capstan/runtime";
import type { Cluster } from "../kinds/cluster.ts";
import type { AnyKindDefinition } from "./infra-kinds.ts";

/** Requested machines. */
export interface CapacityRequest {
  /** The machine template, of the source's kind. */
  readonly template: ObjectKey;
  readonly cluster: Cluster;
  readonly version: string | undefined;
  readonly failureDomain: string | undefined;
}

/**
 * How a provider announces capacity, so that a WorkerPool uses a new or returned host at once. Other providers are asked again
 * after the pool's cool-down.
 */
export interface CapacitySource {
  /** The machines that it speaks for, and their templates. */
  readonly machine: AnyKindDefinition;
  readonly template: AnyKindDefinition;
  /** The objects whose changes are news, such as hosts. */
  readonly kind: AnyKindDefinition;
  /** Whether a change may have freed capacity; `old` is absent for an object that is new. */
  isNews(object: KubeObject, old: KubeObject | undefined): boolean;
  /** How many machines it could provide now, by the same rules as for claims. */
  free(request: CapacityRequest, cache: Cache, nowMs: number): number;
  /** Whether an infrastructure machine has claimed its host. */
  isProvided(machine: ObjectKey, cache: Cache): boolean;
}
