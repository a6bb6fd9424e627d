import type { Cluster } from "@capstan/capi";
import { cidrsOverlap, clusterNetwork } from "@capstan/controlplane";
import { type HostNode, Service } from "@capstan/workloads";
import { type Backend, type Place, withoutPermission } from "../backend.ts";

/**
 * Returns which network of a cluster overlaps one of the outer cluster. Inner nodes reach the outer Service of their API servers and each
 * other's pods by addresses that must not be routed inside.
 */
export async function networkOverlap(backend: Backend, place: Place, cluster: Cluster): Promise<string | undefined> {
  const { podCidrs, serviceCidrs } = clusterNetwork(cluster.spec?.clusterNetwork);
  const inner = [
    ...podCidrs.map((cidr) => ({ cidr, field: "spec.clusterNetwork.pods" })),
    ...serviceCidrs.map((cidr) => ({ cidr, field: "spec.clusterNetwork.services" })),
  ];
  const outer = [...(await podNetworks(backend, place)), ...(await serviceNetwork(place))];
  for (const own of inner)
    for (const other of outer)
      if (cidrsOverlap(own.cidr, other.cidr))
        return `${own.field} ${own.cidr} of the Cluster overlaps ${other.cidr}, ${other.what} of the outer cluster`;
  return undefined;
}

interface OuterNetwork {
  readonly cidr: string;
  readonly what: string;
}

async function podNetworks(backend: Backend, place: Place): Promise<OuterNetwork[]> {
  const nodes = await backend.nodes(place);
  return nodes.flatMap((node: HostNode) => {
    const cidrs = node.spec?.podCIDRs ?? [node.spec?.podCIDR ?? ""];
    return cidrs
      .filter((cidr) => cidr !== "")
      .map((cidr) => ({ cidr, what: `pod network of node ${node.metadata.name}` }));
  });
}

/** The API of an outer cluster is a Service of it, whatever its range is called. */
async function serviceNetwork({ host, signal }: Place): Promise<OuterNetwork[]> {
  const service = await host.client
    .get(Service, { namespace: "default", name: "kubernetes" }, signal)
    .catch(withoutPermission(undefined));
  const address = service?.spec?.clusterIP;
  if (address === undefined || address === "" || address === "None") return [];
  return [{ cidr: `${address}/${address.includes(":") ? 128 : 32}`, what: "address of the API" }];
}
