import { lookup } from "node:dns/promises";
import { networkInterfaces } from "node:os";
import { type AddressRange, DialGate, parseAddressRange } from "@capstan/apimachinery/foreign";

/** Creates the dial gate of a manager on this machine, with the system's resolver and the current interface addresses. */
export function systemDialGate(allow: readonly AddressRange[] = []): DialGate {
  return new DialGate({
    allow,
    ownAddresses: () =>
      Object.values(networkInterfaces()).flatMap((addresses) => (addresses ?? []).map(({ address }) => address)),
    resolve: (host) => lookup(host, { all: true, verbatim: true }),
  });
}

/** Creates a dial gate that allows every address, for tests with servers on this machine. */
export function openDialGate(): DialGate {
  return systemDialGate(["0.0.0.0/0", "::/0"].flatMap((text) => parseAddressRange(text) ?? []));
}
