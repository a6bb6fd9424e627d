import {
  type AnyKind,
  type InfrastructureProvider,
  infrastructureProvider,
  ownerMachine,
  type Provider,
  type ProviderDeps,
  resolveReference,
} from "@capstan/capi";
import type { Cache, ObjectKey } from "@capstan/runtime";
import { resumedKubelet } from "@capstan/workloads";
import { ensureCluster, removeCluster } from "./cluster.ts";
import { addDataIndexes, dataControllers } from "./data/data.controllers.ts";
import { metalDrivers } from "./drivers/metal-drivers.ts";
import { bareMetalHosts } from "./host/provide.ts";
import { addMetal3IpamIndexes, metal3IpamControllers } from "./ipam/ipam.controllers.ts";
import { BareMetalHost } from "./kinds/bare-metal-host.ts";
import { HardwareData } from "./kinds/hardware-data.ts";
import { Metal3IPAddress } from "./kinds/ip-address.ts";
import { IPClaim } from "./kinds/ip-claim.ts";
import { IPPool } from "./kinds/ip-pool.ts";
import { Metal3Cluster, Metal3ClusterTemplate } from "./kinds/metal3-cluster.ts";
import { Metal3Data, Metal3DataClaim, Metal3DataTemplate } from "./kinds/metal3-data.ts";
import { Metal3Machine, Metal3MachineTemplate } from "./kinds/metal3-machine.ts";
import { hostCapacity } from "./machine/capacity.ts";
import { addCleaningModeIndex, cleaningModeController } from "./machine/cleaning-mode.ts";
import { Hosts } from "./machine/hosts.ts";
import { ensureMachine, pauseMachine, removeMachine } from "./machine.ts";

/** Dependencies and settings of the Metal3 provider. */
export interface Metal3Deps extends ProviderDeps {
  /** Whether to manage BareMetalHosts; default `auto`: unless upstream's baremetal-operator runs in the cluster. */
  readonly bareMetalHosts?: "auto" | "off" | undefined;
}

const KINDS: readonly AnyKind[] = [
  BareMetalHost,
  HardwareData,
  Metal3Cluster,
  Metal3ClusterTemplate,
  Metal3Machine,
  Metal3MachineTemplate,
  Metal3DataTemplate,
  Metal3DataClaim,
  Metal3Data,
  IPPool,
  IPClaim,
  Metal3IPAddress,
];

/** The bare-metal infrastructure provider: clusters, machines, data templates, addresses and hosts. */
export const metal3: Provider<Metal3Deps> = {
  name: "metal3",
  title: "Bare metal",
  kinds: KINDS,
  access: { inventory: ["baremetalhosts", "hardwaredata", "metal3datas", "ippools", "ipaddresses"] },
  load: loadMetal3,
};

function loadMetal3(deps: Metal3Deps): ReturnType<Provider["load"]> {
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
    ...(machines.capacity === undefined ? {} : { capacity: machines.capacity }),
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
    name: metal3.name,
    title: metal3.title,
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
