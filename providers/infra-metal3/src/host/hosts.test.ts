import type { Cache } from "@capstan/runtime";
import { expect, test } from "vitest";
import { BareMetalHost } from "../kinds/bare-metal-host.ts";
import { conflictOf } from "./hosts.ts";

const MAC = "00:11:22:33:44:55";
const host = (namespace: string, name: string, second: number): BareMetalHost => ({
  apiVersion: BareMetalHost.apiVersion,
  kind: BareMetalHost.kind,
  metadata: { namespace, name, uid: `${namespace}/${name}`, creationTimestamp: `2026-01-01T00:00:0${second}Z` },
  spec: { online: true, bootMACAddress: MAC },
});
const holding = (...hosts: BareMetalHost[]): Cache => ({ byIndex: () => hosts }) as unknown as Cache;

test("a host with the MAC address of an earlier one of its namespace names it", () => {
  expect(conflictOf(holding(host("a", "first", 1)), host("a", "second", 2))).toContain(
    `The MAC address ${MAC} is also that of BareMetalHost a/first`,
  );
});

test("what another namespace has is not revealed", () => {
  const problem = conflictOf(holding(host("secret-lab", "rack-7", 1)), host("a", "second", 2));
  expect(problem).toContain(`The MAC address ${MAC} is also that of a BareMetalHost of another namespace`);
  expect(problem).not.toMatch(/secret-lab|rack-7/);
});
