import type { Clock, Random, Unstructured } from "@capstan/apimachinery";
import { createApiServer, memoryStore } from "@capstan/apiserver";
import { Cluster, kindAdmissionPlugins, kindConverters, Machine } from "@capstan/capi";
import { contractCases } from "@capstan/capi/contract-suite";
import { silentLogger } from "@capstan/runtime";
import { startWorkload } from "@capstan/workloads/testing";
import { describe, test } from "vitest";
import { Backend } from "./backend.ts";
import { KVM_KINDS } from "./kinds/all.ts";
import { KVMCluster } from "./kinds/kvm-cluster.ts";
import { KVMMachine, KVMMachineTemplate } from "./kinds/kvm-machine.ts";
import { CLOSED_HOST } from "./placement/host-settings.ts";
import { ProcessPlacement } from "./placement/process.ts";
import { SimulatedPlacement } from "./placement/simulated.ts";
import { kvmProvider } from "./running.ts";
import { FakeRunner } from "./testing/fake-runner.ts";

const IMAGE = { url: "http://images.example/node.qcow2", checksum: "a".repeat(64) };

const objectOf = (kind: { apiVersion: string; kind: string }, name: string, spec: object): Unstructured => ({
  apiVersion: kind.apiVersion,
  kind: kind.kind,
  metadata: { name },
  spec,
});

async function createWorld({ clock, random }: { clock: Clock; random: Random }) {
  const workload = await startWorkload({ clock, random });
  const options = { clock, random, log: silentLogger, connect: workload.connect };
  const runner = new FakeRunner(clock);
  const settings = { ...CLOSED_HOST, openUserNetwork: true };
  let simulated = new SimulatedPlacement(options);
  return {
    // Simulated machines live in the provider's memory, real ones outlive it.
    provider: () => {
      simulated = new SimulatedPlacement(options);
      const close = () => Promise.resolve();
      const host = { settings, runner, memoryMib: 1024 * 1024, close };
      return kvmProvider(new Backend({ Process: new ProcessPlacement(async () => host), Simulated: simulated }));
    },
    workload: workload.clusters,
    bootstrapData: workload.cloudConfig,
    leftovers: async () => [...simulated.list(), ...runner.machines.keys()],
    close: () => workload.close(),
  };
}

describe.each(["Simulated", "Process"])("infrastructure contract of the placement %s", (type) => {
  const spec = { placement: { type }, image: IMAGE };
  const cases = contractCases({
    startApi: async ({ clock, random, crds }) => {
      const admission = kindAdmissionPlugins(KVM_KINDS);
      const converters = kindConverters([Cluster, Machine, ...KVM_KINDS], (group) => `${group}/v1beta1`);
      const server = await createApiServer({ store: memoryStore(), clock, random, admission, converters });
      await server.registerCrds(crds);
      return { transport: server.admin(), close: () => server.close() };
    },
    createWorld,
    cluster: (name) => objectOf(KVMCluster, name, {}),
    machine: (name) => objectOf(KVMMachine, name, spec),
    template: (name) => objectOf(KVMMachineTemplate, name, { template: { spec } }),
    changedTemplate: (template) => ({ ...template, spec: { template: { spec: { ...spec, resources: { cpu: 2 } } } } }),
  });
  for (const { name, run } of cases) test(name, run);
});
