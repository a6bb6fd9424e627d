import type { Unstructured } from "@capstan/apimachinery";
import { createApiServer, memoryStore } from "@capstan/apiserver";
import { Cluster, kindAdmissionPlugins, kindConverters, Machine } from "@capstan/capi";
import { contractCases } from "@capstan/capi/contract-suite";
import { silentLogger } from "@capstan/runtime";
import { startWorkload } from "@capstan/workloads/testing";
import { describe, test } from "vitest";
import { MemoryBackend } from "./backend.ts";
import { MemoryCluster, MemoryClusterTemplate } from "./kinds/memory-cluster.ts";
import { MemoryMachine, MemoryMachineTemplate } from "./kinds/memory-machine.ts";
import { memoryProvider } from "./running.ts";

const objectOf = (kind: { apiVersion: string; kind: string }, name: string, spec: object): Unstructured => ({
  apiVersion: kind.apiVersion,
  kind: kind.kind,
  metadata: { name },
  spec,
});

const cases = contractCases({
  startApi: async ({ clock, random, crds }) => {
    const kinds = [MemoryCluster, MemoryClusterTemplate, MemoryMachine, MemoryMachineTemplate];
    const admission = kindAdmissionPlugins(kinds);
    const converters = kindConverters([Cluster, Machine, ...kinds], (group) => `${group}/v1beta1`);
    const server = await createApiServer({ store: memoryStore(), clock, random, admission, converters });
    await server.registerCrds(crds);
    return { transport: server.admin(), close: () => server.close() };
  },
  createWorld: async ({ clock, random }) => {
    const workload = await startWorkload({ clock, random });
    const options = { clock, random, log: silentLogger, seed: 1, connect: workload.connect };
    let backend = new MemoryBackend(options);
    return {
      // The simulated machines live in the provider's own memory: a restart loses and rebuilds them.
      provider: () => {
        backend = new MemoryBackend(options);
        return memoryProvider(options, backend);
      },
      workload: workload.clusters,
      bootstrapData: workload.cloudConfig,
      leftovers: async () => backend.list(),
      close: () => workload.close(),
    };
  },
  cluster: (name) => objectOf(MemoryCluster, name, {}),
  machine: (name) => objectOf(MemoryMachine, name, { bootSeconds: 10, bootJitterSeconds: 5 }),
  template: (name) => objectOf(MemoryMachineTemplate, name, { template: { spec: { bootSeconds: 1 } } }),
  changedTemplate: (template) => ({ ...template, spec: { template: { spec: { bootSeconds: 2 } } } }),
});

describe("infrastructure contract", () => {
  for (const { name, run } of cases) test(name, run);
});
