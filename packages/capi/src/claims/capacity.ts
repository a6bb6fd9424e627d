import type { KubeObject } from "@capstan/apimachinery";
import type { Cache } from "@capstan/runtime";
import type { CapacityRequest, CapacitySource } from "../sdk/capacity.ts";
import type { AnyKindDefinition } from "../sdk/infra-kinds.ts";
import type { HostClaims } from "./host-claims.ts";

/** What a provider adds to its claims so that a WorkerPool can count free hosts. */
export interface HostCapacity<H> {
  /** The template of the machines. */
  readonly template: AnyKindDefinition;
  /** Returns which free hosts the machines of a request could claim; undefined if their template does not exist. */
  fits(request: CapacityRequest, cache: Cache, nowMs: number): ((host: H) => boolean) | undefined;
}

/** Reports free hosts as capacity, by the rules under which machines claim them. */
export function claimCapacity<H extends KubeObject, M extends KubeObject>(
  claims: HostClaims<H, M>,
  { template, fits }: HostCapacity<H>,
): CapacitySource {
  const { host, machine, isNews } = claims.rules;
  return {
    machine: machine as unknown as AnyKindDefinition,
    template,
    kind: host as unknown as AnyKindDefinition,
    isNews: (now, old) => isNews(now as H, old as H | undefined),
    free: (request, cache, nowMs) => {
      const isFit = fits(request, cache, nowMs);
      if (isFit === undefined) return 0;
      const free = claims.free(request.template.namespace ?? "");
      return free.filter((each) => !claims.isBeingClaimed(each) && isFit(each)).length;
    },
    isProvided: (key, cache) => {
      const object = cache.get(machine, key);
      return object !== undefined && claims.allOf(object).length > 0;
    },
  };
}
