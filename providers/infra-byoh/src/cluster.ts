import { gone, type InfraClusterScope, type Outcome, ready } from "@capstan/capi";
import type { ByoCluster } from "./kinds/byo-cluster.ts";
import type { Hosts } from "./machine/hosts.ts";

/** Reports the ByoCluster as ready, with its endpoint if one is set; there is no infrastructure to create. */
export function ensureCluster({ object }: InfraClusterScope<ByoCluster, Hosts>): Promise<Outcome> {
  const { host, port } = object.spec?.controlPlaneEndpoint ?? {};
  return Promise.resolve(host === undefined || port === undefined ? ready() : ready({ endpoint: { host, port } }));
}

/** Reports the ByoCluster as deleted; there is no infrastructure to delete. */
export function removeCluster(): Promise<Outcome> {
  return Promise.resolve(gone());
}
