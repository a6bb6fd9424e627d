import type { KubeObject } from "@capstan/apimachinery";
import type { BareMetalHost } from "../kinds/bare-metal-host.ts";
import type { SourceObject } from "../kinds/metal3-shared.ts";

/** An address from a pool with its prefix, gateway and DNS servers. */
export interface PoolAddress {
  address: string;
  prefix?: number | undefined;
  gateway?: string | undefined;
  dnsServers: readonly string[];
}

/** The objects and addresses that data is rendered from. */
export interface RenderInput {
  /** Index of the machine in its template. */
  index: number;
  namespace: string;
  machine: KubeObject;
  metal3Machine: KubeObject;
  host: BareMetalHost;
  /** By name of the pool. */
  addresses: ReadonlyMap<string, PoolAddress>;
}

/** Thrown if data cannot be rendered until the user changes something; the message names the field, the cause and the fix. */
export class RenderError extends Error {}

/** Returns one of the three objects that values are read from. */
export function sourceOf(
  input: Pick<RenderInput, "machine" | "metal3Machine" | "host">,
  object: SourceObject,
): KubeObject {
  if (object === "machine") return input.machine;
  return object === "metal3machine" ? input.metal3Machine : input.host;
}

/** Returns the MAC address of a network interface of the host. */
export function macOfInterface(host: BareMetalHost, name: string, field: string): string {
  const nics = host.status?.hardware?.nics;
  if (nics === undefined || nics.length === 0)
    throw new RenderError(
      `${field}: BareMetalHost ${host.metadata.name} has no list of interfaces; wait until it is inspected, or set its hardware details`,
    );
  const mac = nics.find((nic) => nic.name === name)?.mac;
  if (mac !== undefined) return mac;
  const known = [...new Set(nics.flatMap((nic) => nic.name ?? []))].join(", ");
  throw new RenderError(`${field}: BareMetalHost ${host.metadata.name} has no interface ${name}, only ${known}`);
}

/** Returns the address that was claimed from a pool. */
export function addressOf(input: RenderInput, pool: string, field: string): PoolAddress {
  const address = input.addresses.get(pool);
  if (address === undefined) throw new RenderError(`${field}: no address of pool ${pool} was claimed`);
  return address;
}
