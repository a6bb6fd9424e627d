import {
  type ConditionInput,
  gone,
  type InfraClusterRemoval,
  type InfraClusterScope,
  type Outcome,
  ready,
  wait,
} from "@capstan/capi";
import type { Metal3Cluster } from "./kinds/metal3-cluster.ts";
import { released } from "./machine/host-spec.ts";
import type { Hosts } from "./machine/hosts.ts";

const CONTENDED_MS = 50;

/** Reports the Metal3Cluster as ready with its endpoint and failure domains; there is no infrastructure to create. */
export function ensureCluster({ object }: InfraClusterScope<Metal3Cluster, Hosts>): Promise<Outcome> {
  const { controlPlaneEndpoint, failureDomains } = object.spec ?? {};
  const { host = "", port } = controlPlaneEndpoint ?? {};
  const condition: ConditionInput = {
    type: "BaremetalInfrastructureReady",
    status: "True",
    reason: "Ready",
    message: "",
  };
  return Promise.resolve({
    ...ready({
      ...(host === "" || port === undefined ? {} : { endpoint: { host, port } }),
      failureDomains,
    }),
    conditions: [condition],
  });
}

/** Releases the hosts that were kept for machines of this cluster. */
export async function removeCluster({
  object,
  cluster,
  backend,
  signal,
}: InfraClusterRemoval<Metal3Cluster, Hosts>): Promise<Outcome> {
  for (const host of backend.claims.heldBy(cluster ?? { ...object, kind: "Cluster" }))
    if (!(await backend.write(host, released(host, undefined), signal)))
      return wait(
        "ReleasingHosts",
        `BareMetalHost ${host.metadata.name} changed while it was being released`,
        CONTENDED_MS,
      );
  return gone();
}
