import { formatIpAddress, toGoYaml } from "@capstan/apimachinery";
import type { NetworkData } from "../kinds/metal3-network-data.ts";
import { poolNameOf } from "./pool-references.ts";
import { addressOf, macOfInterface, RenderError, type RenderInput, sourceOf } from "./render-input.ts";

type Links = NonNullable<NetworkData["links"]>;
type Networks = NonNullable<NetworkData["networks"]>;
type Fixed = NonNullable<Networks["ipv4"]>[number];
type Route = NonNullable<Fixed["routes"]>[number];
type Services = NonNullable<NetworkData["services"]>;
type Mac = NonNullable<NonNullable<Links["ethernets"]>[number]["macAddress"]>;
type Rendered = Record<string, unknown>;

const DEFAULT_MTU = 1500;
const MAC = /^([0-9A-Fa-f]{2}[:-]){5}([0-9A-Fa-f]{2})$/;

/** Renders network data as YAML in OpenStack's format; links, networks and services are always present, even if empty. */
export function renderNetworkData(template: NetworkData, input: RenderInput): string {
  return toGoYaml({
    links: renderLinks(template.links ?? {}, input),
    networks: renderNetworks(template.networks ?? {}, input),
    services: renderServices(template.services, "spec.networkData.services", input),
  });
}

function renderLinks(links: Links, input: RenderInput): Rendered[] {
  const field = "spec.networkData.links";
  const named = (link: { name?: string }): Rendered => (link.name === undefined ? {} : { name: link.name });
  return [
    ...(links.bonds ?? []).map((link) => {
      const entry: Rendered = {
        type: "bond",
        id: link.id,
        mtu: link.mtu ?? DEFAULT_MTU,
        bond_mode: link.bondMode,
        bond_xmit_hash_policy: link.bondXmitHashPolicy ?? "",
        bond_links: link.bondLinks ?? null,
        ...named(link),
        ...mac("ethernet_mac_address", link.macAddress, `${field}.bonds[id=${link.id}].macAddress`, input),
      };
      for (const { name, value } of link.parameters ?? []) {
        if (Object.hasOwn(entry, `bond_${name}`))
          throw new RenderError(`${field}.bonds[id=${link.id}].parameters: ${name} has its own field; use that`);
        entry[`bond_${name}`] = value;
      }
      return entry;
    }),
    ...(links.ethernets ?? []).map((link) => ({
      type: link.type,
      id: link.id,
      mtu: link.mtu ?? DEFAULT_MTU,
      ...named(link),
      ...mac("ethernet_mac_address", link.macAddress, `${field}.ethernets[id=${link.id}].macAddress`, input),
    })),
    ...(links.vlans ?? []).map((link) => ({
      type: "vlan",
      id: link.id,
      mtu: link.mtu ?? DEFAULT_MTU,
      vlan_link: link.vlanLink,
      vlan_id: link.vlanID,
      ...named(link),
      ...mac("vlan_mac_address", link.macAddress, `${field}.vlans[id=${link.id}].macAddress`, input),
    })),
  ];
}

function mac(key: string, wanted: Mac | undefined, field: string, input: RenderInput): Rendered {
  if (wanted === undefined) return {};
  const value = macText(wanted, field, input);
  if (!MAC.test(value)) throw new RenderError(`${field}: "${value}" is no MAC address such as 00:11:22:33:44:55`);
  return { [key]: value };
}

function macText(wanted: Mac, field: string, input: RenderInput): string {
  if (wanted.string !== undefined) return wanted.string;
  if (wanted.fromHostInterface !== undefined) return macOfInterface(input.host, wanted.fromHostInterface, field);
  if (wanted.fromAnnotation === undefined) return "";
  const { object, annotation } = wanted.fromAnnotation;
  return sourceOf(input, object).metadata.annotations?.[annotation] ?? "";
}

function renderNetworks(networks: Networks, input: RenderInput): Rendered[] {
  const field = "spec.networkData.networks";
  const fixed = (type: "ipv4" | "ipv6", bits: 32 | 128) =>
    (networks[type] ?? []).map((network) => {
      const path = `${field}.${type}[id=${network.id}]`;
      const pool = poolNameOf(network, network.ipAddressFromIPPool, path, input);
      const { address, prefix } = addressOf(input, pool ?? "", path);
      return {
        type,
        id: network.id,
        link: network.link,
        netmask: prefix === undefined ? "" : netmask(prefix, bits),
        ip_address: address,
        routes: renderRoutes(network.routes, bits, path, input),
      };
    });
  const dynamic = (name: "ipv4DHCP" | "ipv6DHCP" | "ipv6SLAAC", type: string, bits: 32 | 128) =>
    (networks[name] ?? []).map(({ id, link, routes }) => ({
      type,
      id,
      link,
      routes: renderRoutes(routes, bits, `${field}.${name}[id=${id}]`, input),
    }));
  return [
    ...fixed("ipv4", 32),
    ...fixed("ipv6", 128),
    ...dynamic("ipv4DHCP", "ipv4_dhcp", 32),
    ...dynamic("ipv6DHCP", "ipv6_dhcp", 128),
    ...dynamic("ipv6SLAAC", "ipv6_slaac", 128),
  ];
}

function renderRoutes(routes: readonly Route[] | undefined, bits: 32 | 128, path: string, input: RenderInput) {
  return (routes ?? []).map((route) => {
    const field = `${path}.routes[network=${route.network}]`;
    return {
      network: route.network,
      netmask: netmask(route.prefix ?? 0, bits),
      gateway: gatewayOf(route, field, input),
      services: renderServices(route.services, `${field}.services`, input),
    };
  });
}

function gatewayOf({ gateway }: Route, field: string, input: RenderInput): string {
  if (gateway === undefined) return "";
  if (gateway.string !== undefined) return gateway.string;
  const pool = poolNameOf(gateway, gateway.fromIPPool, `${field}.gateway`, input);
  return pool === undefined ? "" : (addressOf(input, pool, `${field}.gateway`).gateway ?? "");
}

function renderServices(services: Services | undefined, field: string, input: RenderInput): Rendered[] {
  const pool = services?.dnsFromIPPool;
  const fromPool = pool === undefined ? [] : addressOf(input, pool, `${field}.dnsFromIPPool`).dnsServers;
  return [...(services?.dns ?? []), ...fromPool].map((address) => ({ type: "dns", address }));
}

/** 24 is 255.255.255.0; of IPv6, 64 is ffff:ffff:ffff:ffff::. */
function netmask(prefix: number, bits: 32 | 128): string {
  const bytes = new Uint8Array(bits / 8);
  for (let bit = 0; bit < Math.min(prefix, bits); bit++) bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) | (0x80 >> (bit & 7));
  return formatIpAddress(bytes);
}
