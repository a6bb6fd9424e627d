import { gone, type InfraClusterScope, type Outcome, ready } from "@capstan/capi";
import type { MemoryBackend } from "./backend.ts";
import type { MemoryCluster } from "./kinds/memory-cluster.ts";

/** There is nothing to build: the failure domains are offered as they are described. */
export async function ensureCluster({ object }: InfraClusterScope<MemoryCluster, MemoryBackend>): Promise<Outcome> {
  const { failureDomains } = object.spec ?? {};
  return ready(failureDomains === undefined ? {} : { failureDomains });
}

/** Nothing was built. */
export async function removeCluster(): Promise<Outcome> {
  return gone();
}
