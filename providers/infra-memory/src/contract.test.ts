import type { Unstructured } from "@capstan/apimachinery";
import { createApiServer, memoryStore } from "@capstan/apiserver";
import { contractCases } from "@capstan/capi/contract-suite";
import { silentLogger } from "@capstan/runtime";
import { describe, test } from "vitest";
import { MemoryBackend } from "./backend.ts";
import { MemoryCluster } from "./kinds/memory-cluster.ts";
import { MemoryMachine, MemoryMachineTemplate } from "./kinds/memory-machine.ts";
import { memoryProvider } from "./provider.ts";
import { kindAdmission } from "./testing/admission.ts";
import { startWorkload } from "./testing/workload.ts";

const objectOf = (kind: { apiVersion: string; kind: string }, name: string, spec: object): Unstructured => ({
  apiVersion: kind.apiVersion,
  kind: kind.kind,
  metadata: { name },
  spec,
});

const cases = contractCases({
  startApi: async ({ clock, random, crds }) => {
    const server = await createApiServer({ store: memoryStore(), clock, random, admission: [kindAdmission] });
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
