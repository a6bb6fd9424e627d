import { lookup } from "node:dns/promises";
import { networkInterfaces } from "node:os";
import { type AddressRange, DialGate, parseAddressRange } from "@capstan/apimachinery/foreign";

/** The gate of a manager on this machine: names by the system's resolver, own addresses as the interfaces have them now. */
export function systemDialGate(allow: readonly AddressRange[] = []): DialGate {
  return new DialGate({
    allow,
    ownAddresses: () =>
      Object.values(networkInterfaces()).flatMap((addresses) => (addresses ?? []).map(({ address }) => address)),
    resolve: (host) => lookup(host, { all: true, verbatim: true }),
  });
}

/** A gate that lets everything through: for tests, whose servers are on this machine. */
export function openDialGate(): DialGate {
  return systemDialGate(["0.0.0.0/0", "::/0"].flatMap((text) => parseAddressRange(text) ?? []));
}
