import { METAL3_IPAM_GROUP } from "../kinds/ip-pool.ts";
import type { Metal3DataTemplate } from "../kinds/metal3-data.ts";
import type { NetworkData } from "../kinds/metal3-network-data.ts";
import { RenderError, type RenderInput, sourceOf } from "./render-input.ts";

/** Reference to a pool that addresses are claimed from. */
export interface PoolReference {
  apiGroup: string;
  kind: string;
  name: string;
}

type Sources = Pick<RenderInput, "machine" | "metal3Machine" | "host">;
type Networks = NonNullable<NetworkData["networks"]>;
type Fixed = NonNullable<Networks["ipv4"]>[number];
type Named = Pick<Fixed, "fromPoolRef" | "fromPoolAnnotation">;

/** Reports whether a pool is a Metal3 IPPool, which uses IPClaims instead of Cluster API's IPAddressClaims. */
export function isMetal3Pool({ apiGroup, kind }: PoolReference): boolean {
  return apiGroup === METAL3_IPAM_GROUP && kind === "IPPool";
}

/** Returns the name of the pool that a network or gateway refers to: by annotation, by reference or by plain name, in this order. */
export function poolNameOf(
  named: Named,
  plain: string | undefined,
  field: string,
  sources: Sources,
): string | undefined {
  return referenceOf(named, plain, field, sources)?.name;
}

/** Returns all pools that a template refers to, without duplicates; one address is claimed from each. */
export function referencedPools(template: Metal3DataTemplate, sources: Sources): PoolReference[] {
  const pools = new Map<string, PoolReference>();
  const add = (reference: PoolReference | undefined, field: string): void => {
    if (reference === undefined) return;
    const known = pools.get(reference.name);
    if (known === undefined) pools.set(reference.name, reference);
    else if (known.kind !== reference.kind || known.apiGroup !== reference.apiGroup)
      throw new RenderError(
        `${field}: multiple references with the same name but different resource types: ${reference.name} is ${known.kind} and ${reference.kind}`,
      );
  };
  const { metaData, networkData } = template.spec;
  for (const list of ["ipAddresses", "prefixes", "gateways", "dnsServers"] as const)
    for (const { name } of metaData?.[`${list}FromPool`] ?? []) add(metal3Pool(name), `spec.metaData.${list}FromPool`);
  const services = (named: { dnsFromIPPool?: string } | undefined, field: string): void =>
    add(metal3Pool(named?.dnsFromIPPool), `${field}.services.dnsFromIPPool`);
  const routes = (network: Pick<Fixed, "id" | "routes">, path: string): void => {
    for (const { network: destination, gateway = {}, services: served } of network.routes ?? []) {
      const field = `${path}.routes[network=${destination}]`;
      // A gateway that is given needs no pool.
      if (gateway.string === undefined)
        add(referenceOf(gateway, gateway.fromIPPool, `${field}.gateway`, sources), field);
      services(served, field);
    }
  };
  const { networks = {} } = networkData ?? {};
  for (const type of ["ipv4", "ipv6"] as const)
    for (const network of networks[type] ?? []) {
      const path = `spec.networkData.networks.${type}[id=${network.id}]`;
      add(referenceOf(network, network.ipAddressFromIPPool, path, sources), path);
      routes(network, path);
    }
  for (const type of ["ipv4DHCP", "ipv6DHCP", "ipv6SLAAC"] as const)
    for (const network of networks[type] ?? []) routes(network, `spec.networkData.networks.${type}[id=${network.id}]`);
  services(networkData?.services, "spec.networkData");
  return [...pools.values()];
}

function metal3Pool(name: string | undefined): PoolReference | undefined {
  return name === undefined || name === "" ? undefined : { apiGroup: METAL3_IPAM_GROUP, kind: "IPPool", name };
}

function referenceOf(
  named: Named,
  plain: string | undefined,
  field: string,
  sources: Sources,
): PoolReference | undefined {
  if (named.fromPoolAnnotation !== undefined) {
    const { object, annotation } = named.fromPoolAnnotation;
    const value = sourceOf(sources, object).metadata.annotations?.[annotation];
    if (value === undefined || value === "")
      throw new RenderError(
        `${field}.fromPoolAnnotation: annotation ${annotation} not found or empty on ${object}; set it to the name of an IPPool`,
      );
    return metal3Pool(value);
  }
  if (named.fromPoolRef === undefined) return metal3Pool(plain);
  const { apiGroup = METAL3_IPAM_GROUP, kind = "IPPool", name } = named.fromPoolRef;
  return { apiGroup: apiGroup === "" ? METAL3_IPAM_GROUP : apiGroup, kind: kind === "" ? "IPPool" : kind, name };
}
