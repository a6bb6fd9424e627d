import type { AnyKindDefinition, CapacitySource } from "@capstan/capi";
import { ByoHost } from "@capstan/host-agent";
import { countFree, isNews } from "./choose-host.ts";
import type { Hosts } from "./hosts.ts";
import { ByoMachine, ByoMachineTemplate } from "./kinds/byo-machine.ts";
import { wantedKubelet } from "./wanted-kubelet.ts";

/** Reports free hosts as the capacity that is available to ByoMachines. */
export function hostCapacity(hosts: Hosts): CapacitySource {
  return {
    machine: ByoMachine as unknown as AnyKindDefinition,
    template: ByoMachineTemplate as unknown as AnyKindDefinition,
    kind: ByoHost as unknown as AnyKindDefinition,
    isNews: (host, old) => isNews(host as ByoHost, old as ByoHost | undefined),
    free: ({ template, cluster, version, failureDomain }, cache, nowMs) => {
      const spec = cache.get(ByoMachineTemplate, template)?.spec.template.spec;
      if (spec === undefined) return 0;
      const kubelet = spec.installerRef === undefined ? wantedKubelet(version, cluster) : undefined;
      const wanted = { selector: spec.selector, failureDomain, kubelet };
      return countFree(hosts.in(template.namespace ?? ""), wanted, nowMs, hosts.knowledge);
    },
    isProvided: (key, cache) => {
      const machine = cache.get(ByoMachine, key);
      return machine !== undefined && hosts.of(machine) !== undefined;
    },
  };
}
