import {
  type AnyKind,
  type InfrastructureProvider,
  infrastructureProvider,
  type LoadedProvider,
  ownerMachine,
  resolveReference,
} from "@capstan/capi";
import type { Cache, ObjectKey } from "@capstan/runtime";
import { resumedKubelet } from "@capstan/workloads";
import { ensureCluster, removeCluster } from "./cluster.ts";
import { addDataIndexes, dataControllers } from "./data/data.controllers.ts";
import { metal3Description } from "./description.ts";
import { metalDrivers } from "./drivers/metal-drivers.ts";
import { bareMetalHosts } from "./host/provide.ts";
import { addMetal3IpamIndexes, metal3IpamControllers } from "./ipam/ipam.controllers.ts";
import { BareMetalHost } from "./kinds/bare-metal-host.ts";
import { Metal3Cluster, Metal3ClusterTemplate } from "./kinds/metal3-cluster.ts";
import { Metal3Data, Metal3DataClaim, Metal3DataTemplate } from "./kinds/metal3-data.ts";
import { Metal3Machine, Metal3MachineTemplate } from "./kinds/metal3-machine.ts";
import { hostCapacity } from "./machine/capacity.ts";
import { addCleaningModeIndex, cleaningModeController } from "./machine/cleaning-mode.ts";
import { Hosts } from "./machine/hosts.ts";
import { ensureMachine, pauseMachine, removeMachine } from "./machine.ts";
import type { Metal3Deps } from "./provider.ts";

/** Creates the provider's running part, with the drivers of hosts. */
export function loadMetal3(deps: Metal3Deps): LoadedProvider {
  const { cache, clock, random, log, connect, workload } = deps;
  const drivers = metalDrivers(deps, {
    clock,
    random,
    log,
    seed: 1,
    connect,
    kubeletOf: (host) => machineVersion(host, cache),
    resumed: (host) => resumedKubelet(machineOf(host, cache), workload),
  });
  const hosts = bareMetalHosts({ clock, random, drivers: drivers.drivers });
  const machines = metal3Provider();
  return {
    capacity: machines.capacity,
    addIndexes: (target) => {
      hosts.addIndexes(target);
      machines.addIndexes(target);
    },
    controllers: (given) => [
      ...(deps.bareMetalHosts === "off" ? [] : hosts.controllers()),
      ...machines.controllers(given),
    ],
    close: drivers.close,
  };
}

/** The machine that a host works for: of its own namespace only, whatever it says. */
function machineOf(key: ObjectKey, cache: Cache): Metal3Machine | undefined {
  const host = cache.get(BareMetalHost, key);
  if (host === undefined) return undefined;
  const target = resolveReference(host, host.spec.consumerRef ?? {}, "spec.consumerRef");
  return "problem" in target ? undefined : cache.get(Metal3Machine, target);
}

/** The Kubernetes version of the Machine that a BareMetalHost works for. */
function machineVersion(host: ObjectKey, cache: Cache): string | undefined {
  const machine = machineOf(host, cache);
  return machine === undefined ? undefined : ownerMachine(cache, machine)?.spec.version;
}

/** Creates the machine half of the provider; `bareMetalHosts` or upstream's baremetal-operator manages the hosts. */
export function metal3Provider(): InfrastructureProvider {
  const hosts = new Hosts();
  const provider = infrastructureProvider({
    ...metal3Description,
    cluster: { kind: Metal3Cluster, template: Metal3ClusterTemplate, ensure: ensureCluster, remove: removeCluster },
    machine: {
      kind: Metal3Machine,
      template: Metal3MachineTemplate,
      ensure: ensureMachine,
      remove: removeMachine,
      paused: pauseMachine,
      watch: (backend, changed) => backend.subscribe(changed),
    },
    backend: hosts,
  });
  return {
    ...provider,
    capacity: hostCapacity(hosts),
    kinds: [...provider.kinds, Metal3DataTemplate, Metal3DataClaim, Metal3Data] as AnyKind[],
    addIndexes: (cache) => {
      provider.addIndexes(cache);
      hosts.bind(cache);
      addCleaningModeIndex(cache);
      addDataIndexes(cache);
      addMetal3IpamIndexes(cache);
    },
    controllers: (deps) => {
      hosts.follow(deps.workload);
      return [
        ...provider.controllers(deps),
        cleaningModeController(),
        ...dataControllers(hosts),
        ...metal3IpamControllers(),
      ];
    },
  };
}
