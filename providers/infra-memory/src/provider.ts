import type { AnyKind, Provider, ProviderDeps } from "@capstan/capi";
import type { SimulatedControlPlanes } from "@capstan/workloads";
import { memoryDescription } from "./description.ts";
import { MemoryCluster, MemoryClusterTemplate } from "./kinds/memory-cluster.ts";
import { MemoryMachine, MemoryMachineTemplate } from "./kinds/memory-machine.ts";

/** Dependencies of the memory provider. */
export interface MemoryDeps extends ProviderDeps {
  /** The control planes whose machines are simulated in this process. */
  readonly planes: SimulatedControlPlanes;
}

/** The memory infrastructure provider: simulated machines, used as the example of the provider SDK and for load tests. */
export const memory: Provider<MemoryDeps> = {
  ...memoryDescription,
  kinds: [MemoryCluster, MemoryClusterTemplate, MemoryMachine, MemoryMachineTemplate] as readonly AnyKind[],
  load: async ({ clock, random, log, connect, planes }) =>
    (await import("./running.ts")).memoryProvider({ clock, random, log, seed: 1, connect, planes }),
};
