import { isReason } from "@capstan/apimachinery";
import type { Cluster } from "@capstan/capi";
import { cidrsOverlap, clusterNetwork } from "@capstan/controlplane";
import { type HostNode, Service, ServiceCidr } from "@capstan/workloads";
import { type Backend, type Place, withoutPermission } from "../backend.ts";

/** Services whose addresses show the range of an outer cluster without ServiceCIDRs: the first address of it, and usually the tenth. */
const KNOWN_SERVICES = [
  { namespace: "default", name: "kubernetes" },
  { namespace: "kube-system", name: "kube-dns" },
];

/**
 * Returns which network of a cluster overlaps one of the outer cluster. Inner nodes reach the outer Service of their API servers, each
 * other's pods and the outer nodes by addresses that must not be routed inside.
 */
export async function networkOverlap(backend: Backend, place: Place, cluster: Cluster): Promise<string | undefined> {
  const { podCidrs, serviceCidrs } = clusterNetwork(cluster.spec?.clusterNetwork);
  const inner = [
    ...podCidrs.map((cidr) => ({ cidr, field: "spec.clusterNetwork.pods" })),
    ...serviceCidrs.map((cidr) => ({ cidr, field: "spec.clusterNetwork.services" })),
  ];
  const nodes = await backend.nodes(place);
  const outer = [...nodes.flatMap(podNetworks), ...(await serviceNetworks(place)), ...nodes.flatMap(nodeAddresses)];
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

function podNetworks({ metadata, spec }: HostNode): OuterNetwork[] {
  const cidrs = spec?.podCIDRs ?? [spec?.podCIDR ?? ""];
  return cidrs.filter((cidr) => cidr !== "").map((cidr) => ({ cidr, what: `pod network of node ${metadata.name}` }));
}

function nodeAddresses({ metadata, status }: HostNode): OuterNetwork[] {
  return (status?.addresses ?? [])
    .filter(({ type }) => type === "InternalIP")
    .map(({ address }) => ({ cidr: hostCidr(address), what: `address of node ${metadata.name}` }));
}

async function serviceNetworks(place: Place): Promise<OuterNetwork[]> {
  const ranges = await serviceRanges(place);
  if (ranges.length > 0) return ranges.map((cidr) => ({ cidr, what: "service network" }));
  const { host, signal } = place;
  const services = await Promise.all(
    KNOWN_SERVICES.map((key) => host.client.get(Service, key, signal).catch(withoutPermission(undefined))),
  );
  return services.flatMap((service) => {
    const { clusterIP = "" } = service?.spec ?? {};
    const what = `address of Service ${service?.metadata.namespace}/${service?.metadata.name}`;
    return clusterIP === "" || clusterIP === "None" ? [] : [{ cidr: hostCidr(clusterIP), what }];
  });
}

/** Clusters before Kubernetes 1.33 have no ServiceCIDRs. */
async function serviceRanges({ host, signal }: Place): Promise<string[]> {
  try {
    const { items } = await host.client.list(ServiceCidr, {}, signal);
    return items.flatMap(({ spec }) => spec?.cidrs ?? []);
  } catch (error) {
    if (isReason(error, "NotFound", "Forbidden")) return [];
    throw error;
  }
}

function hostCidr(address: string): string {
  return `${address}/${address.includes(":") ? 128 : 32}`;
}
