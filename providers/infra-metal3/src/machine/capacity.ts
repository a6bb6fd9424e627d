import { type AnyKindDefinition, type CapacitySource, claimCapacity } from "@capstan/capi";
import { Metal3MachineTemplate } from "../kinds/metal3-machine.ts";
import { hostMatches } from "./choose-host.ts";
import type { Hosts } from "./hosts.ts";

/** Reports available BareMetalHosts as the capacity that is available to Metal3Machines. */
export function hostCapacity(hosts: Hosts): CapacitySource {
  return claimCapacity(hosts.claims, {
    template: Metal3MachineTemplate as unknown as AnyKindDefinition,
    fits: ({ template, failureDomain }, cache) => {
      const spec = cache.get(Metal3MachineTemplate, template)?.spec.template.spec;
      if (spec === undefined) return undefined;
      return hostMatches({ selector: spec.hostSelector, failureDomain: failureDomain ?? spec.failureDomain });
    },
  });
}
