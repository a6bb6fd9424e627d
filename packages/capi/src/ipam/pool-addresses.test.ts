import { describe, expect, test } from "vitest";
import { addressText } from "./address-ranges.ts";
import { poolAddresses } from "./pool-addresses.ts";

describe("a pool", () => {
  const texts = (spec: Parameters<typeof poolAddresses>[0]): string[] | string => {
    const pool = poolAddresses(spec);
    if ("problem" in pool) return pool.problem;
    return pool.ranges.map(({ first, last }) => `${addressText(first, pool.family)}-${addressText(last, pool.family)}`);
  };
  const cases: [string, Parameters<typeof poolAddresses>[0], string[] | RegExp][] = [
    ["of a CIDR lacks network and broadcast", { addresses: ["10.0.0.0/29"], prefix: 29 }, ["10.0.0.1-10.0.0.6"]],
    [
      "gives those too if requested",
      { addresses: ["10.0.0.0/29"], prefix: 29, allocateReservedIPAddresses: true },
      ["10.0.0.0-10.0.0.7"],
    ],
    [
      "lacks gateway and exclusions",
      {
        addresses: ["10.0.0.10-10.0.0.20"],
        prefix: 24,
        gateway: "10.0.0.12",
        excludedAddresses: ["10.0.0.15-10.0.0.16", "10.0.0.20"],
      },
      ["10.0.0.10-10.0.0.11", "10.0.0.13-10.0.0.14", "10.0.0.17-10.0.0.19"],
    ],
    ["joins single addresses", { addresses: ["10.0.0.6", "10.0.0.5", "10.0.0.7"], prefix: 24 }, ["10.0.0.5-10.0.0.7"]],
    ["of IPv6 lacks only the first", { addresses: ["fd00::/126"], prefix: 126 }, ["fd00::1-fd00::3"]],
    [
      "must be readable",
      { addresses: ["10.0.0.300"], prefix: 24 },
      /^spec\.addresses\[0\]: 10\.0\.0\.300 is not an address/,
    ],
    ["must not run backwards", { addresses: ["10.0.0.9-10.0.0.1"], prefix: 24 }, /^spec\.addresses\[0\]/],
    [
      "must be of one IP family",
      { addresses: ["10.0.0.1", "fd00::1"], prefix: 24 },
      /^spec\.addresses\[1\]: .*one IP family/,
    ],
    [
      "must have exclusions of its family",
      { addresses: ["10.0.0.1"], prefix: 24, excludedAddresses: ["10.0.0.9", "fd00::1"] },
      /^spec\.excludedAddresses\[1\]: .*one IP family/,
    ],
    ["must not have blanks in a range", { addresses: ["10.0.0.1 - 10.0.0.9"], prefix: 24 }, /^spec\.addresses\[0\]/],
    [
      "must be covered by its prefix",
      { addresses: ["10.0.0.1", "10.0.1.1"], prefix: 24 },
      /^spec\.addresses\[1\]: 10\.0\.1\.1 is not within 10\.0\.0\.0\/24/,
    ],
    ["must have a prefix of its family", { addresses: ["10.0.0.1"], prefix: 64 }, /longer than 32/],
    ["must have a readable gateway", { addresses: ["10.0.0.1"], prefix: 24, gateway: "x" }, /^spec\.gateway: x/],
    ["must not be empty", { addresses: [], prefix: 24 }, /at least one/],
  ];
  test.each(cases)("%s", (_name, spec, expected) => {
    if (expected instanceof RegExp) expect(texts(spec)).toMatch(expected);
    else expect(texts(spec)).toEqual(expected);
  });
});
