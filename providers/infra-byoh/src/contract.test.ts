import type { Clock, Unstructured } from "@capstan/apimachinery";
import { contractCases } from "@capstan/capi/contract-suite";
import { describe, test } from "vitest";
import { MACHINE_ID_ANNOTATION } from "./host/machine-ids.ts";
import { ByoCluster } from "./kinds/byo-cluster.ts";
import { ByoMachine, ByoMachineTemplate } from "./kinds/byo-machine.ts";
import { byohProvider } from "./running.ts";
import { type ByohWorld, startWorld } from "./testing/world.ts";

const objectOf = (kind: { apiVersion: string; kind: string }, name: string, spec: object): Unstructured => ({
  apiVersion: kind.apiVersion,
  kind: kind.kind,
  metadata: { name },
  spec,
});

/** The hosts are objects of the API itself, so the outside world comes with the API; both share their case's clock. */
const worlds = new WeakMap<Clock, ByohWorld>();
const worldOf = (clock: Clock): ByohWorld => {
  const world = worlds.get(clock);
  if (world === undefined) throw new Error("the API has not been started");
  return world;
};

const cases = contractCases({
  startApi: async (options) => {
    const world = await startWorld(options);
    worlds.set(options.clock, world);
    // As a manager has known them before.
    for (const name of ["host-1", "host-2"])
      await world.agents.enrol(name, {}, { [MACHINE_ID_ANNOTATION]: `id-of-${name}` });
    return { transport: world.server.admin(), close: () => world.close() };
  },
  createWorld: ({ clock }) =>
    Promise.resolve({
      provider: byohProvider,
      workload: {
        get: (cluster) => worldOf(clock).workload.get(cluster),
        subscribe: (listener) => worldOf(clock).workload.subscribe(listener),
      },
      // A host that is claimed or not clean is something left over.
      leftovers: () => {
        const { agents } = worldOf(clock);
        const inUse = agents
          .hosts()
          .filter(({ spec }) => spec?.machineRef !== undefined || spec?.release !== undefined);
        const names = inUse.map(({ metadata }) => metadata.name ?? "");
        return Promise.resolve([...new Set([...names, ...agents.running.keys()])].sort());
      },
    }),
  cluster: (name) => objectOf(ByoCluster, name, {}),
  machine: (name) => objectOf(ByoMachine, name, {}),
  template: (name) => objectOf(ByoMachineTemplate, name, { template: { spec: {} } }),
  changedTemplate: (template) => ({
    ...template,
    spec: { template: { spec: { selector: { matchLabels: { disk: "ssd" } } } } },
  }),
});

describe("infrastructure contract", () => {
  for (const { name, run } of cases) test(name, run);
});
