import type { Clock, Transport, Unstructured } from "@capstan/apimachinery";
import { Client } from "@capstan/runtime";
import type { Node, WorkloadClusters } from "../workload/types.ts";

const NODES = { group: "", plural: "nodes" };

/** What test helpers use of an API server in memory, without importing it. */
export interface TestApi {
  admin(): Transport;
  readonly internal: {
    get(type: { group: string; plural: string }, namespace: string, name: string): Unstructured | undefined;
    list(type: { group: string; plural: string }, namespace?: string): readonly Unstructured[];
    update(
      type: { group: string; plural: string },
      namespace: string,
      name: string,
      manager: string,
      change: (object: Unstructured) => void,
    ): Promise<unknown>;
    watch(
      type: { group: string; plural: string },
      onChange: (change: {
        name: string;
        object: Unstructured | undefined;
        previous: Unstructured | undefined;
      }) => void,
    ): () => void;
  };
}

/** A connection to the one workload cluster of a test, default/c1, whose API is in memory. */
export function connectedCluster(api: TestApi, clock: Clock): WorkloadClusters {
  const client = new Client(api.admin(), { fieldManager: "test", clock });
  const list = (): Node[] => api.internal.list(NODES) as unknown as Node[];
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
      api.internal.watch(NODES, ({ name }) => listener({ namespace: "default", name: "c1" }, name)),
  };
}
