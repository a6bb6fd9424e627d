import type { Unstructured } from "@capstan/apimachinery";
import { createApiServer, memoryStore } from "@capstan/apiserver";
import { Cluster, kindAdmissionPlugins, kindConverters, Machine } from "@capstan/capi";
import { contractCases } from "@capstan/capi/contract-suite";
import { describe, test } from "vitest";
import { LabCluster, LabMachine, LabMachineTemplate, labProvider } from "./lab.ts";
import { MemoryLab } from "./memory-lab.ts";

const objectOf = (kind: { apiVersion: string; kind: string }, name: string, spec: object): Unstructured => ({
  apiVersion: kind.apiVersion,
  kind: kind.kind,
  metadata: { name },
  spec,
});

const cases = contractCases({
  startApi: async ({ clock, random, crds }) => {
    const kinds = [Cluster, Machine, LabCluster, LabMachine, LabMachineTemplate];
    const server = await createApiServer({
      store: memoryStore(),
      clock,
      random,
      admission: kindAdmissionPlugins(kinds),
      converters: kindConverters(kinds, (group) => `${group}/v1beta1`),
    });
    await server.registerCrds(crds);
    return { transport: server.admin(), close: () => server.close() };
  },
  createWorld: async ({ clock }) => {
    const lab = new MemoryLab({ clock, hosts: { "rack-1": 2 }, bootMs: 10_000 });
    return { provider: () => labProvider(lab), leftovers: async () => lab.owners() };
  },
  cluster: (name) => objectOf(LabCluster, name, {}),
  machine: (name) => objectOf(LabMachine, name, {}),
  template: (name) => objectOf(LabMachineTemplate, name, { template: { spec: { rack: "rack-1" } } }),
  changedTemplate: (template) => ({ ...template, spec: { template: { spec: { rack: "rack-2" } } } }),
});

describe("infrastructure contract", () => {
  for (const { name, run } of cases) test(name, run);
});
