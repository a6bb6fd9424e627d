import { join } from "node:path";
import { type InfrastructureProvider, infrastructureProvider, type LoadedProvider } from "@capstan/capi";
import { Backend } from "./backend.ts";
import { ensureCluster, removeCluster } from "./cluster/ensure.ts";
import { kvmDescription } from "./description.ts";
import { KVMCluster, KVMClusterTemplate } from "./kinds/kvm-cluster.ts";
import { KVMMachine, KVMMachineTemplate } from "./kinds/kvm-machine.ts";
import { ensureMachine } from "./machine/ensure.ts";
import { removeMachine } from "./machine/remove.ts";
import { openHost } from "./placement/open-host.ts";
import { ProcessPlacement } from "./placement/process.ts";
import { SimulatedPlacement } from "./placement/simulated.ts";
import type { KvmDeps } from "./provider.ts";

/** Creates the provider's running part over placements. */
export function kvmProvider(backend: Backend): InfrastructureProvider {
  const provider = infrastructureProvider({
    ...kvmDescription,
    cluster: {
      kind: KVMCluster,
      template: KVMClusterTemplate,
      ensure: ensureCluster,
      remove: removeCluster,
      watch: (backend, changed) => backend.watchClusters(changed),
    },
    machine: {
      kind: KVMMachine,
      template: KVMMachineTemplate,
      ensure: ensureMachine,
      remove: removeMachine,
      watch: (backend, changed) => backend.watchMachines(changed),
    },
    backend,
  });
  return {
    ...provider,
    addIndexes: (cache) => {
      provider.addIndexes(cache);
      backend.bind(cache);
    },
    close: () => backend.close(),
  };
}

/** Creates the provider's running part for a manager. */
export function loadKvm(deps: KvmDeps): LoadedProvider {
  const { clock, random, log, gate, connect, planes, dataDir } = deps;
  return kvmProvider(
    new Backend({
      Process: new ProcessPlacement(() => openHost({ clock, random, gate, folder: join(dataDir, "kvm") })),
      Simulated: new SimulatedPlacement({ clock, random, log, connect, planes }),
    }),
  );
}
