import type { ProviderDescription } from "@capstan/capi";

/** What people see of machines in memory. */
export const memoryDescription: ProviderDescription = {
  name: "memory",
  title: "Memory",
  reasons: async () => (await import("./reasons.ts")).MEMORY_REASONS,
  badge: { label: "Memory", color: "#7048e8" },
  workers: {
    summary: "machines that exist in memory only: for trying things out",
    inMemory: true,
    clusterKind: "MemoryCluster",
    templateKind: "MemoryMachineTemplate",
    settings: { bootSeconds: { summary: "how long a machine takes to boot" } },
    templates: { flavor: "in-memory" },
    clusterSpec: {},
    machineSpec: ({ settings: { bootSeconds } }) =>
      bootSeconds === undefined ? {} : { bootSeconds: Number(bootSeconds) },
  },
};
