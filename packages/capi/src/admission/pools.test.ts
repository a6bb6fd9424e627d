import type { Unstructured } from "@capstan/apimachinery";
import { describe, expect, it } from "vitest";
import type { AdmissionLookup } from "../schema/kind.ts";
import { admit, type Fields, sample } from "../testing/admit.ts";

const pool = (spec: Fields): Unstructured => sample("InClusterIPPool", { prefix: 24, ...spec });
const prefixPool = (spec: Fields, more: Fields = {}): Unstructured => sample("InClusterPrefixPool", spec, more);

/** Addresses or prefixes given out from the pool. */
const given = (kind: string, ...held: [address: string, prefix: number, pool?: string][]): AdmissionLookup => ({
  get: async () => undefined,
  list: async () =>
    held.map(([address, prefix, name = "x"]) =>
      sample("IPAddress", {
        claimRef: { name: "x" },
        poolRef: { apiGroup: "ipam.cluster.x-k8s.io", kind, name },
        address,
        prefix,
      }),
    ),
});
const addresses = (...texts: string[]): AdmissionLookup =>
  given("InClusterIPPool", ...texts.map((text): [string, number] => [text, 24]));
const prefixes = (...held: [string, number][]): AdmissionLookup => given("InClusterPrefixPool", ...held);
const FOUR = { prefixes: ["fd00::/62"] };

describe("pools of addresses that are refused", () => {
  it.each<[string, Unstructured, string]>([
    ["range", pool({ addresses: ["10.0.0.1-x"] }), "spec.addresses[0]"],
    ["beyond its prefix", pool({ addresses: ["10.0.0.1", "10.0.9.1"] }), "spec.addresses[1]"],
    ["gateway of another family", pool({ addresses: ["10.0.0.1"], gateway: "fd00::1" }), "one IP family"],
    ["two families", pool({ addresses: ["10.0.0.1", "fd00::1"] }), "one IP family"],
  ])("%s", async (_, next, message) => expect(await admit(next)).toContain(message));

  const NINE = { addresses: ["10.0.0.5-10.0.0.9"] };
  it.each<[string, Fields, Fields, AdmissionLookup, string]>([
    [
      "loses one in use",
      { addresses: ["10.0.0.5-10.0.0.20"] },
      NINE,
      addresses("10.0.0.7", "10.0.0.12"),
      "pool addresses do not contain allocated addresses: 10.0.0.12",
    ],
    ["excludes one in use", NINE, { ...NINE, excludedAddresses: ["10.0.0.7"] }, addresses("10.0.0.7"), ": 10.0.0.7"],
    ["makes one in use its gateway", NINE, { ...NINE, gateway: "10.0.0.7" }, addresses("10.0.0.7"), ": 10.0.0.7"],
  ])("%s", async (_, before, after, lookup, message) => {
    expect(await admit(pool(after), pool(before), lookup)).toContain(message);
  });

  it("deleted while in use", async () => {
    expect(await admit(undefined, pool({ addresses: ["10.0.0.1"] }), addresses("10.0.0.1"))).toContain("in use");
  });
});

it("a pool may shrink as far as its addresses are free", async () => {
  const lookup = given("InClusterIPPool", ["10.0.0.7", 24], ["10.0.0.20", 24, "y"]);
  expect(await admit(pool({ addresses: ["10.0.0.7"] }), pool({ addresses: ["10.0.0.1-10.0.0.30"] }), lookup)).toBe("");
});

describe("pools of prefixes that are refused", () => {
  it.each<[string, Fields, string]>([
    ["none", { prefixes: [] }, "spec.prefixes"],
    ["address", { prefixes: ["fd00::1"] }, "spec.prefixes[0]"],
    ["bits behind the length", { prefixes: ["fd00::1/64"] }, "spec.prefixes[0]"],
    ["IPv4", { prefixes: ["10.0.0.0/24"] }, "only IPv6 prefixes are supported"],
    ["longer than what it gives", { prefixes: ["fd00::/65"] }, "longer than the allocated prefixes, /64"],
    ["gateway", { ...FOUR, gateway: "10.0.0.1" }, "spec.gateway"],
    ["exclusion", { ...FOUR, excludedPrefixes: ["fd00::/62", "10.0.0.1"] }, "spec.excludedPrefixes[1]"],
  ])("%s", async (_, spec, message) => expect(await admit(prefixPool(spec))).toContain(message));

  it.each<[string, Fields, Fields, AdmissionLookup, string]>([
    ["another length", FOUR, { ...FOUR, allocationPrefixLength: 65 }, prefixes(), "allocationPrefixLength"],
    [
      "loses one in use",
      FOUR,
      { prefixes: ["fd00:0:0:1::/64"] },
      prefixes(["fd00::", 64], ["fd00:0:0:1::", 64]),
      "existing allocations become non-allocatable: fd00::/64",
    ],
    [
      "excludes a part of one in use",
      FOUR,
      { ...FOUR, excludedPrefixes: ["fd00::5"] },
      prefixes(["fd00::", 64]),
      "::/64",
    ],
    ["one in use of another length", FOUR, { prefixes: ["fd00::/61"] }, prefixes(["fd00::", 63]), "fd00::/63"],
  ])("%s", async (_, before, after, lookup, message) => {
    const old = prefixPool({ allocationPrefixLength: 64, ...before });
    expect(await admit(prefixPool({ allocationPrefixLength: 64, ...after }), old, lookup)).toContain(message);
  });

  it("deleted while in use, unless an annotation says so", async () => {
    expect(await admit(undefined, prefixPool(FOUR), prefixes(["fd00::", 64]))).toContain("in use");
    const annotations = { "ipam.cluster.x-k8s.io/skip-validate-delete-webhook": "" };
    expect(await admit(undefined, prefixPool(FOUR, { metadata: { annotations } }), prefixes(["fd00::", 64]))).toBe("");
  });
});

describe("pools of prefixes that pass", () => {
  it.each([undefined, 0])("a length of %s becomes 64", async (allocationPrefixLength) => {
    const created = prefixPool({ ...FOUR, allocationPrefixLength });
    expect(await admit(created)).toBe("");
    expect(created["spec"]).toMatchObject({ allocationPrefixLength: 64 });
  });

  it("one that keeps what is in use", async () => {
    const after = { ...FOUR, allocationPrefixLength: 64, excludedPrefixes: ["fd00:0:0:2::/64"], gateway: "fd00::1" };
    const old = prefixPool({ ...FOUR, allocationPrefixLength: 64 });
    expect(await admit(prefixPool(after), old, prefixes(["fd00::", 64]))).toBe("");
  });

  it.each<[string, Fields, number]>([
    ["single addresses", {}, 1],
    ["single addresses, the gateway among them", { gateway: "fd00::1" }, 2],
    ["single addresses, the gateway elsewhere", { gateway: "fe80::1" }, 1],
    ["networks", { allocationPrefixLength: 64, gateway: "fd00::1" }, 0],
  ])("warnings to %s", async (_, spec, count) => {
    const warnings: string[] = [];
    const warned = prefixPool({ ...FOUR, allocationPrefixLength: 128, ...spec });
    expect(await admit(warned, undefined, prefixes(), (text) => warnings.push(text))).toBe("");
    expect(warnings).toHaveLength(count);
  });
});
