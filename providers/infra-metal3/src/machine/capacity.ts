import { deepEqual } from "@capstan/apimachinery";
import type { AnyKindDefinition, CapacitySource } from "@capstan/capi";
import { BareMetalHost } from "../kinds/bare-metal-host.ts";
import { Metal3Machine, Metal3MachineTemplate } from "../kinds/metal3-machine.ts";
import { whyNotFree } from "./choose-host.ts";
import type { Hosts } from "./hosts.ts";

/** Reports available BareMetalHosts as the capacity that is available to Metal3Machines. */
export function hostCapacity(hosts: Hosts): CapacitySource {
  const isFree = (host: BareMetalHost | undefined): boolean => host !== undefined && whyNotFree(host) === undefined;
  return {
    machine: Metal3Machine as unknown as AnyKindDefinition,
    template: Metal3MachineTemplate as unknown as AnyKindDefinition,
    kind: BareMetalHost as unknown as AnyKindDefinition,
    isNews: (host, old) => {
      const [now, before] = [host as BareMetalHost, old as BareMetalHost | undefined];
      // Labels decide whom a free host is for.
      return isFree(now) && (!isFree(before) || !deepEqual(now.metadata.labels, before?.metadata.labels));
    },
    free: ({ template, failureDomain }, cache) => {
      const spec = cache.get(Metal3MachineTemplate, template)?.spec.template.spec;
      if (spec === undefined) return 0;
      const wanted = { selector: spec.hostSelector, failureDomain: failureDomain ?? spec.failureDomain };
      return hosts.allFree(template.namespace ?? "", wanted).length;
    },
    isProvided: (key, cache) => {
      const machine = cache.get(Metal3Machine, key);
      return machine !== undefined && hosts.of(machine) !== undefined;
    },
  };
}
