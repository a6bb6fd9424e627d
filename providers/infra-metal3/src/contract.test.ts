import type { Clock, Unstructured } from "@capstan/apimachinery";
import { contractCases } from "@capstan/capi/contract-suite";
import { Client } from "@capstan/runtime";
import { describe, test } from "vitest";
import { IPPool } from "./kinds/ip-pool.ts";
import { Metal3Cluster } from "./kinds/metal3-cluster.ts";
import { Metal3DataTemplate } from "./kinds/metal3-data.ts";
import { Metal3Machine, Metal3MachineTemplate } from "./kinds/metal3-machine.ts";
import { metal3Provider } from "./running.ts";
import { type Metal3World, startWorld } from "./testing/world.ts";

const objectOf = (kind: { apiVersion: string; kind: string }, name: string, spec: object): Unstructured => ({
  apiVersion: kind.apiVersion,
  kind: kind.kind,
  metadata: { name },
  spec,
});

/** The hosts are objects of the API itself, so the outside world comes with the API; both share their case's clock. */
const worlds = new WeakMap<Clock, Metal3World>();
const worldOf = (clock: Clock): Metal3World => {
  const world = worlds.get(clock);
  if (world === undefined) throw new Error("the API has not been started");
  return world;
};

const IMAGE = { url: "http://images.example/node.qcow2", checksum: "abc", diskFormat: "qcow2" };
const LEFT = ["metal3dataclaims", "metal3datas"].map((plural) => ({ group: Metal3Machine.group, plural }));
const ADDRESSES = ["ipclaims", "ipaddresses"].map((plural) => ({ group: IPPool.group, plural }));

/** All that exists because of machines: hosts in use, data, addresses. */
function leftovers({ hosts, server }: Metal3World): string[] {
  const inUse = hosts.hosts().filter(({ spec }) => spec.consumerRef !== undefined || spec.image !== undefined);
  const used = new Set([...inUse.map(({ metadata }) => metadata.name ?? ""), ...hosts.running.keys()]);
  const objects = [...LEFT, ...ADDRESSES].flatMap((kind) => server.internal.list(kind, "default"));
  // The rest stands and falls with the host.
  return used.size > 0 ? [...used].sort() : objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
}

describe.each([
  ["alone", {}],
  ["with data and addresses", { dataTemplate: { name: "data" } }],
])("infrastructure contract, a machine %s", (_name, more) => {
  const spec = { image: IMAGE, ...more };
  const cases = contractCases({
    startApi: async (options) => {
      const world = await startWorld(options);
      worlds.set(options.clock, world);
      for (const name of ["host-1", "host-2"]) await world.hosts.add(name);
      const client = new Client(world.server.admin(), { fieldManager: "test", clock: options.clock });
      // With their finalizers, because an idle provider must not write.
      const finalizers = ["ippool.ipam.metal3.io"];
      const inDefault = (object: Unstructured): Unstructured => ({
        ...object,
        metadata: { ...object.metadata, namespace: "default", ...(object.kind === IPPool.kind ? { finalizers } : {}) },
      });
      await client.create(
        inDefault(
          objectOf(IPPool, "pool", {
            namePrefix: "pool",
            pools: [{ start: "192.0.2.10", end: "192.0.2.20" }],
            prefix: 24,
            gateway: "192.0.2.1",
          }),
        ),
      );
      await client.create(
        inDefault(
          objectOf(Metal3DataTemplate, "data", {
            metaData: { objectNames: [{ key: "name", object: "machine" }], indexes: [{ key: "index" }] },
            networkData: {
              links: { ethernets: [{ id: "eth0", type: "phy", macAddress: { fromHostInterface: "eth0" } }] },
              networks: { ipv4: [{ id: "net", link: "eth0", ipAddressFromIPPool: "pool" }] },
            },
          }),
        ),
      );
      return { transport: world.server.admin(), close: () => world.close() };
    },
    createWorld: ({ clock }) =>
      Promise.resolve({
        provider: metal3Provider,
        workload: {
          get: (cluster) => worldOf(clock).workload.get(cluster),
          subscribe: (listener) => worldOf(clock).workload.subscribe(listener),
        },
        leftovers: () => Promise.resolve(leftovers(worldOf(clock))),
      }),
    cluster: (name) => objectOf(Metal3Cluster, name, {}),
    machine: (name) => objectOf(Metal3Machine, name, spec),
    template: (name) => objectOf(Metal3MachineTemplate, name, { template: { spec } }),
    changedTemplate: (template) => ({
      ...template,
      spec: { template: { spec: { ...spec, hostSelector: { matchLabels: { disk: "ssd" } } } } },
    }),
  });
  for (const { name, run } of cases) test(name, run);
});
