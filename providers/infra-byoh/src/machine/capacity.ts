import { type AnyKindDefinition, type CapacitySource, claimCapacity } from "@capstan/capi";
import { ByoMachineTemplate } from "../kinds/byo-machine.ts";
import { isClaimable } from "./choose-host.ts";
import type { Hosts } from "./hosts.ts";
import { wantedKubelet } from "./wanted-kubelet.ts";

/** Reports free hosts as the capacity that is available to ByoMachines. */
export function hostCapacity(hosts: Hosts): CapacitySource {
  return claimCapacity(hosts.claims, {
    template: ByoMachineTemplate as unknown as AnyKindDefinition,
    fits: ({ template, cluster, version, failureDomain }, cache, nowMs) => {
      const spec = cache.get(ByoMachineTemplate, template)?.spec.template.spec;
      if (spec === undefined) return undefined;
      const kubelet = spec.installerRef === undefined ? wantedKubelet(version, cluster) : undefined;
      return isClaimable({ selector: spec.selector, failureDomain, kubelet }, nowMs, hosts.knowledge);
    },
  });
}
