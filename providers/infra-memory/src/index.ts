export type { BackendOptions } from "./backend.ts";
export { BOOT_SECONDS_ANNOTATION, FAULT_ANNOTATION } from "./faults.ts";
export { MemoryCluster, MemoryClusterTemplate } from "./kinds/memory-cluster.ts";
export { FAULTS, type Fault, MemoryMachine, MemoryMachineTemplate } from "./kinds/memory-machine.ts";
export { memory } from "./provider.ts";
export { memoryProvider } from "./running.ts";
