import { gone, type InfraClusterScope, type Outcome, ready } from "@capstan/capi";
import type { Hosts } from "./hosts.ts";
import type { ByoCluster } from "./kinds/byo-cluster.ts";

/** There is nothing to make: the hosts are there, and the endpoint is the control plane's or the user's. */
export function ensureCluster({ object }: InfraClusterScope<ByoCluster, Hosts>): Promise<Outcome> {
  const { host, port } = object.spec?.controlPlaneEndpoint ?? {};
  return Promise.resolve(host === undefined || port === undefined ? ready() : ready({ endpoint: { host, port } }));
}

export function removeCluster(): Promise<Outcome> {
  return Promise.resolve(gone());
}
