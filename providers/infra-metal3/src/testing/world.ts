import type { Clock, Random, Unstructured } from "@capstan/apimachinery";
import { type ApiServer, createApiServer, memoryStore } from "@capstan/apiserver";
import { IPAddress, IPAddressClaim, kindAdmissionPlugins, type WorkloadClusters } from "@capstan/capi";
import { connectedCluster } from "@capstan/capi/testing";
import { BareMetalHost } from "../kinds/bare-metal-host.ts";
import { Metal3IPAddress } from "../kinds/ip-address.ts";
import { IPClaim } from "../kinds/ip-claim.ts";
import { IPPool } from "../kinds/ip-pool.ts";
import { metal3Provider } from "../running.ts";
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
    workload: connectedCluster(nodes, clock),
    close: async () => {
      hosts.close();
      await server.close();
      await nodes.close();
    },
  };
}
