import { type InfrastructureProvider, infrastructureProvider } from "@capstan/capi";
import { type BackendOptions, MemoryBackend } from "./backend.ts";
import { ensureCluster, removeCluster } from "./cluster.ts";
import { memoryDescription } from "./description.ts";
import { MemoryCluster, MemoryClusterTemplate } from "./kinds/memory-cluster.ts";
import { MemoryMachine, MemoryMachineTemplate } from "./kinds/memory-machine.ts";
import { ensureMachine, removeMachine } from "./machine.ts";

/** Creates the provider's running part. */
export function memoryProvider(
  options: BackendOptions,
  backend: MemoryBackend = new MemoryBackend(options),
): InfrastructureProvider {
  return infrastructureProvider({
    ...memoryDescription,
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
