import { type AnyKind, type InfrastructureProvider, infrastructureProvider, type Provider } from "@capstan/capi";
import { type BackendOptions, MemoryBackend } from "./backend.ts";
import { ensureCluster, removeCluster } from "./cluster.ts";
import { MemoryCluster, MemoryClusterTemplate } from "./kinds/memory-cluster.ts";
import { MemoryMachine, MemoryMachineTemplate } from "./kinds/memory-machine.ts";
import { ensureMachine, removeMachine } from "./machine.ts";

/** The memory infrastructure provider: simulated machines, used as the example of the provider SDK and for load tests. */
export const memory: Provider = {
  name: "memory",
  title: "Memory",
  kinds: [MemoryCluster, MemoryClusterTemplate, MemoryMachine, MemoryMachineTemplate] as readonly AnyKind[],
  load: ({ clock, random, log, connect }) => memoryProvider({ clock, random, log, seed: 1, connect }),
};

/** Creates the provider's running part. */
export function memoryProvider(
  options: BackendOptions,
  backend: MemoryBackend = new MemoryBackend(options),
): InfrastructureProvider {
  return infrastructureProvider({
    name: memory.name,
    title: memory.title,
    cluster: { kind: MemoryCluster, template: MemoryClusterTemplate, ensure: ensureCluster, remove: removeCluster },
    machine: {
      kind: MemoryMachine,
      template: MemoryMachineTemplate,
      ensure: ensureMachine,
      remove: removeMachine,
      watch: (backend, changed) => backend.subscribe(changed),
    },
    backend,
  });
}
