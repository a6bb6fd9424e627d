import { type AnyKindDefinition, type InfrastructureProvider, infrastructureProvider } from "@capstan/capi";
import { ensureCluster, removeCluster } from "./cluster.ts";
import { addDataIndexes, dataControllers } from "./data/data.controllers.ts";
import { addMetal3IpamIndexes, metal3IpamControllers } from "./ipam/ipam.controllers.ts";
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

/** All kinds of this provider but the hosts'. */
export const METAL3_KINDS = [
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
] as const;

/** Bare metal as the manager loads it: clusters, machines, their data and addresses. Hosts are driven by `hostController`, or by others. */
export function metal3Provider(): InfrastructureProvider {
  const hosts = new Hosts();
  const provider = infrastructureProvider({
    name: "metal3",
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
  const data = [Metal3DataTemplate, Metal3DataClaim, Metal3Data] as unknown as AnyKindDefinition[];
  return {
    name: provider.name,
    capacity: hostCapacity(hosts),
    kinds: [...provider.kinds, ...data],
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
