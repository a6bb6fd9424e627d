import { gone, type InfraClusterScope, type Outcome, ready } from "@capstan/capi";
import type { MemoryBackend } from "./backend.ts";
import type { MemoryCluster } from "./kinds/memory-cluster.ts";

/** Reports the MemoryCluster as ready with the failure domains of its spec; there is no infrastructure to create. */
export async function ensureCluster({ object }: InfraClusterScope<MemoryCluster, MemoryBackend>): Promise<Outcome> {
  const { failureDomains } = object.spec ?? {};
  return ready(failureDomains === undefined ? {} : { failureDomains });
}

/** Reports the MemoryCluster as deleted; there is no infrastructure to delete. */
export async function removeCluster(): Promise<Outcome> {
  return gone();
}
