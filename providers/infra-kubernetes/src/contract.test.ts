import { type Clock, seededRandom, type Unstructured } from "@capstan/apimachinery";
import { contractCases } from "@capstan/capi/contract-suite";
import { openDialGate, silentLogger } from "@capstan/runtime";
import { compileScript } from "@capstan/userdata";
import { HostSecret, OWNER_ANNOTATION, PersistentVolumeClaim, PodDisruptionBudget, Service } from "@capstan/workloads";
import { describe, test } from "vitest";
import { Backend } from "./backend.ts";
import { KubernetesCluster } from "./kinds/kubernetes-cluster.ts";
import { KubernetesMachine, KubernetesMachineTemplate } from "./kinds/kubernetes-machine.ts";
import { kubernetesProvider } from "./running.ts";
import { Outer } from "./testing/outer.ts";

const objectOf = (kind: { apiVersion: string; kind: string }, name: string, spec: object): Unstructured => ({
  apiVersion: kind.apiVersion,
  kind: kind.kind,
  metadata: { name },
  spec,
});

/** The pods are objects of the API itself, so every write of theirs is one after which the provider may be killed. */
const outers = new WeakMap<Clock, Outer>();
const outerOf = (clock: Clock): Outer => {
  const outer = outers.get(clock);
  if (outer === undefined) throw new Error("the API has not been started");
  return outer;
};

const cases = contractCases({
  startApi: async (options) => {
    const outer = await Outer.start(options);
    outers.set(options.clock, outer);
    return { transport: outer.server.admin(), close: () => outer.close() };
  },
  createWorld: ({ clock }) => {
    let backend: Backend | undefined;
    return Promise.resolve({
      provider: () => {
        void backend?.close();
        const random = seededRandom(5);
        backend = new Backend({
          clock,
          random,
          log: silentLogger,
          gate: openDialGate(),
          runsPods: true,
          compile: compileScript,
        });
        return kubernetesProvider(backend);
      },
      leftovers: async () => {
        const { client } = outerOf(clock);
        const selector = { labelSelector: "capstan.dev/hosted" };
        const pods = await outerOf(clock).pods();
        const ownerOf = ({ annotations }: Unstructured["metadata"]): string => annotations?.[OWNER_ANNOTATION] ?? "";
        const owners = pods.map(({ metadata }) => ownerOf(metadata));
        const lists = [
          pods,
          (await client.list(Service, selector)).items,
          (await client.list(PersistentVolumeClaim, selector)).items,
          // Those of a pod that is there are no leftovers.
          (await client.list(HostSecret, selector)).items.filter(({ metadata }) => !owners.includes(ownerOf(metadata))),
          (await client.list(PodDisruptionBudget, selector)).items,
        ];
        return lists.flat().map(({ metadata }) => metadata.name ?? "");
      },
      close: async () => backend?.close(),
    });
  },
  cluster: (name) => objectOf(KubernetesCluster, name, {}),
  machine: (name) => objectOf(KubernetesMachine, name, {}),
  template: (name) => objectOf(KubernetesMachineTemplate, name, { template: { spec: {} } }),
  changedTemplate: (template) => ({ ...template, spec: { template: { spec: { image: "example.org/node:1" } } } }),
});

describe("infrastructure contract", () => {
  for (const { name, run } of cases) test(name, { timeout: 120_000 }, run);
});
