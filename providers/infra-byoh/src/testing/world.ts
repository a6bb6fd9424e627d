import type { Clock, Random, Unstructured } from "@capstan/apimachinery";
import { type ApiServer, createApiServer, memoryStore } from "@capstan/apiserver";
import { kindAdmissionPlugins, type Node, type WorkloadClusters } from "@capstan/capi";
import { Client } from "@capstan/runtime";
import { byohProvider } from "../provider.ts";
import { FakeAgents } from "./fake-agents.ts";

/** An API server that serves our kinds by their own rules, hosts with agents, and a cluster for them to join. */
export interface ByohWorld {
  readonly server: ApiServer;
  readonly agents: FakeAgents;
  readonly workload: WorkloadClusters;
  close(): Promise<void>;
}

/** Starts one without hosts. */
export async function startWorld(deps: {
  clock: Clock;
  random: Random;
  crds: readonly Unstructured[];
}): Promise<ByohWorld> {
  const { clock, random } = deps;
  const admission = kindAdmissionPlugins(byohProvider().kinds);
  const server = await createApiServer({ store: memoryStore(), clock, random, admission });
  await server.registerCrds(deps.crds);
  const nodes = await createApiServer({ store: memoryStore(), clock, random });
  const agents = new FakeAgents(server, nodes, clock);
  return {
    server,
    agents,
    workload: connected(nodes, clock),
    close: async () => {
      agents.close();
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
    subscribe: () => () => undefined,
  };
}
