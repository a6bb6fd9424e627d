import type { Cache } from "@capstan/runtime";
import { describe, expect, test } from "vitest";
import { BareMetalHost } from "../kinds/bare-metal-host.ts";
import { conflictOf } from "./hosts.ts";
import { SignedIn } from "./signed-in.ts";

const MAC = "00:11:22:33:44:55";
const ADDRESS = "redfish://10.0.0.1/redfish/v1/Systems/1";
const host = (namespace: string, name: string, second: number, address = ADDRESS): BareMetalHost => ({
  apiVersion: BareMetalHost.apiVersion,
  kind: BareMetalHost.kind,
  metadata: { namespace, name, uid: `${namespace}/${name}`, creationTimestamp: `2026-01-01T00:00:0${second}Z` },
  spec: { online: true, bootMACAddress: MAC, bmc: { address, credentialsName: "bmc" } },
});
const holding = (...hosts: BareMetalHost[]): Cache => ({ byIndex: () => hosts }) as unknown as Cache;

test("a host with the MAC address of an earlier one of its namespace names it", () => {
  expect(conflictOf(holding(host("a", "first", 1)), host("a", "second", 2), new SignedIn())).toContain(
    `The MAC address ${MAC} is also used by BareMetalHost a/first`,
  );
});

describe("a host with the management controller of another namespace's host", () => {
  const other = host("secret-lab", "rack-7", 1);
  const problem = (second: number, signedIn: SignedIn): string | undefined =>
    conflictOf(holding(other), host("a", "own", second), signedIn);

  test("waits until an earlier one has been tried", () => {
    expect(problem(2, new SignedIn())).toContain("BMC address https://10.0.0.1/redfish/v1/systems/1 is also used by");
    expect(problem(0, new SignedIn())).toBeUndefined();
  });

  test.each([0, 2])("is refused once that one has signed in, whichever was created first", (second) => {
    const signedIn = new SignedIn();
    signedIn.succeeded(other);
    signedIn.tried(other);
    expect(problem(second, signedIn)).toContain("a BareMetalHost of another namespace");
    expect(problem(second, signedIn)).not.toMatch(/secret-lab|rack-7/);
  });

  test("is not refused when that one cannot sign in", () => {
    const signedIn = new SignedIn();
    signedIn.tried(other);
    expect(problem(2, signedIn)).toBeUndefined();
  });

  test("is not refused when that one signed in to another address", () => {
    const signedIn = new SignedIn();
    signedIn.succeeded(host("secret-lab", "rack-7", 1, "redfish://10.0.0.2/redfish/v1/Systems/1"));
    expect(problem(2, signedIn)).toBeUndefined();
  });

  test("is not refused when that one has signed in before and no longer can", () => {
    const signedIn = new SignedIn();
    signedIn.succeeded(other);
    signedIn.failed(other);
    expect(problem(2, signedIn)).toBeUndefined();
  });
});

test("a MAC address alone is no conflict with another namespace", () => {
  const signedIn = new SignedIn();
  const other = host("b", "first", 1, "redfish://10.0.0.2/redfish/v1/Systems/1");
  signedIn.succeeded(other);
  expect(conflictOf(holding(other), host("a", "second", 2), signedIn)).toBeUndefined();
});
