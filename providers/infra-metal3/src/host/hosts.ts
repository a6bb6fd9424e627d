import { trimEndOf } from "@capstan/apimachinery";
import type { Cache } from "@capstan/runtime";
import { BareMetalHost } from "../kinds/bare-metal-host.ts";
import { parseBmcAddress } from "../provisioner/bmc-address.ts";
import type { SignedIn } from "./signed-in.ts";

const BY_MAC = "boot-mac";
const BY_BMC = "bmc-address";

/** Adds the cache indexes that find hosts for the same physical machine; call it before the cache starts. */
export function addHostIndexes(cache: Cache): void {
  cache.addIndex(BareMetalHost, BY_MAC, (host) => macOf(host));
  cache.addIndex(BareMetalHost, BY_BMC, (host) => bmcOf(host));
}

/** Returns the other hosts with the MAC address or management controller of this one. */
export function sameMachine(cache: Cache, host: BareMetalHost): BareMetalHost[] {
  const same = [
    ...macOf(host).flatMap((mac) => cache.byIndex(BareMetalHost, BY_MAC, mac)),
    ...bmcOf(host).flatMap((address) => cache.byIndex(BareMetalHost, BY_BMC, address)),
  ];
  return same.filter(({ metadata }) => metadata.uid !== host.metadata.uid);
}

/** Describes which other host represents the same machine and takes precedence; undefined if there is none. */
export function conflictOf(cache: Cache, host: BareMetalHost, signedIn: SignedIn): string | undefined {
  const { namespace } = host.metadata;
  const others = sameMachine(cache, host);
  const own = others.filter((other) => other.metadata.namespace === namespace && isEarlier(other, host));
  const first = own.sort((a, b) => (rank(a) < rank(b) ? -1 : 1))[0];
  const mac = macOf(host)[0];
  const isMac = first === undefined ? false : mac !== undefined && macOf(first)[0] === mac;
  const what = isMac ? `MAC address ${mac}` : `BMC address ${bmcOf(host)[0]}`;
  // Hosts of another namespace are not revealed to users who guess an address.
  const other =
    first !== undefined
      ? `BareMetalHost ${namespace}/${first.metadata.name}`
      : others.some((candidate) => candidate.metadata.namespace !== namespace && holds(candidate, host, signedIn))
        ? "a BareMetalHost of another namespace"
        : undefined;
  return other === undefined
    ? undefined
    : `The ${what} is also used by ${other}: one machine must not be registered as two hosts; correct or delete one of them`;
}

/**
 * Whether the host of another namespace has the management controller. It must have signed in: whoever only writes an address down
 * must not keep its owner from using it. A MAC address cannot be proved, so that it counts within a namespace only.
 */
function holds(other: BareMetalHost, host: BareMetalHost, signedIn: SignedIn): boolean {
  if (bmcOf(other)[0] === undefined || bmcOf(other)[0] !== bmcOf(host)[0]) return false;
  return signedIn.has(other) ?? isEarlier(other, host);
}

function isEarlier(other: BareMetalHost, host: BareMetalHost): boolean {
  return rank(other) < rank(host);
}

/** Who was there first wins; names decide between two of the same second. */
function rank({ metadata }: BareMetalHost): string {
  return `${metadata.creationTimestamp} ${metadata.namespace}/${metadata.name}`;
}

function macOf({ spec }: BareMetalHost): string[] {
  return spec?.bootMACAddress === undefined ? [] : [spec.bootMACAddress.toLowerCase().replaceAll("-", ":")];
}

function bmcOf({ spec }: BareMetalHost): string[] {
  const address = spec?.bmc?.address;
  return address === undefined || address === "" ? [] : [plainAddress(address)];
}

/** One spelling for all that name the same System. */
function plainAddress(address: string): string {
  try {
    const { driver, origin, path } = parseBmcAddress(address);
    if (driver === "redfish") return `${origin}${path}`.toLowerCase();
  } catch {
    // Refused elsewhere, with what is wrong with it.
  }
  return trimEndOf(address, "/").toLowerCase();
}
