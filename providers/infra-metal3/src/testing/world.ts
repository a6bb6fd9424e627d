import type { Clock, Random, Unstructured } from "@capstan/apimachinery";
import { type ApiServer, createApiServer, memoryStore } from "@capstan/apiserver";
import { IPAddress, IPAddressClaim, kindAdmissionPlugins, type Node, type WorkloadClusters } from "@capstan/capi";
import { Client } from "@capstan/runtime";
import { BareMetalHost } from "../kinds/bare-metal-host.ts";
import { Metal3IPAddress } from "../kinds/ip-address.ts";
import { IPClaim } from "../kinds/ip-claim.ts";
import { IPPool } from "../kinds/ip-pool.ts";
import { metal3Provider } from "../provider.ts";
import { FakeHosts } from "./fake-hosts.ts";

/** Kinds that are not machines' own but that machines need. */
const OTHERS = [BareMetalHost, IPPool, IPClaim, Metal3IPAddress, IPAddress, IPAddressClaim];

/** An API server that serves our kinds by their own rules, hosts, and a cluster for them to join. */
export interface Metal3World {
  readonly server: ApiServer;
  readonly nodes: ApiServer;
  readonly hosts: FakeHosts;
  readonly workload: WorkloadClusters;
  close(): Promise<void>;
}

/** Starts one without hosts. */
export async function startWorld(deps: {
  clock: Clock;
  random: Random;
  crds: readonly Unstructured[];
}): Promise<Metal3World> {
  const { clock, random } = deps;
  const admission = kindAdmissionPlugins([...metal3Provider().kinds, ...OTHERS]);
  const server = await createApiServer({ store: memoryStore(), clock, random, admission });
  await server.registerCrds([...deps.crds, ...OTHERS.map((kind) => kind.crd())]);
  const nodes = await createApiServer({ store: memoryStore(), clock, random });
  const hosts = new FakeHosts(server, nodes, clock);
  return {
    server,
    nodes,
    hosts,
    workload: connected(nodes, clock),
    close: async () => {
      hosts.close();
      await server.close();
      await nodes.close();
    },
  };
}

function connected(server: ApiServer, clock: Clock): WorkloadClusters {
  const client = new Client(server.admin(), { fieldManager: "test", clock });
  const list = (): Node[] => server.internal.list({ group: "", plural: "nodes" }) as unknown as Node[];
  return {
    get: () => ({
      state: "connected",
      since: 0,
      client,
      nodes: {
        list,
        get: (name) => list().find((node) => node.metadata.name === name),
        byProviderID: (id) => list().find((node) => node.spec?.providerID === id),
      },
    }),
    subscribe: (listener) =>
      server.internal.watch({ group: "", plural: "nodes" }, ({ name }) =>
        listener({ namespace: "default", name: "c1" }, name),
      ),
  };
}
