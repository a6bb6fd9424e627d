import type { Clock, Random, Unstructured } from "@capstan/apimachinery";
import { type ApiServer, createApiServer, memoryStore } from "@capstan/apiserver";
import { kindAdmissionPlugins, type WorkloadClusters } from "@capstan/capi";
import { connectedCluster } from "@capstan/capi/testing";
import { byohProvider } from "../running.ts";
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
    workload: connectedCluster(nodes, clock),
    close: async () => {
      agents.close();
      await server.close();
      await nodes.close();
    },
  };
}
