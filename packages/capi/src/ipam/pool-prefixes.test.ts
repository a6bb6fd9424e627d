import { describe, expect, test } from "vitest";
import { type PrefixPoolSpec, poolPrefixes } from "./pool-prefixes.ts";
import { slotText } from "./slots.ts";

describe("a pool of prefixes", () => {
  const texts = (spec: PrefixPoolSpec): string[] | string => {
    const pool = poolPrefixes(spec);
    if ("problem" in pool) return pool.problem;
    return pool.ranges.flatMap(({ first, last }) => [slotText(first, pool), slotText(last, pool)]);
  };
  const cases: [string, PrefixPoolSpec, string[] | RegExp][] = [
    ["gives networks of length 64", { prefixes: ["fd00::/62"] }, ["fd00::/64", "fd00:0:0:3::/64"]],
    [
      "gives those of the length it says",
      { prefixes: ["fd00::/48"], allocationPrefixLength: 56 },
      ["fd00::/56", "fd00:0:0:ff00::/56"],
    ],
    ["may give itself", { prefixes: ["fd00::/64"] }, ["fd00::/64", "fd00::/64"]],
    [
      "joins prefixes that touch or overlap",
      { prefixes: ["fd00:0:0:1::/64", "fd00::/64", "fd00::/63", "fd01::/64"] },
      ["fd00::/64", "fd00:0:0:1::/64", "fd01::/64", "fd01::/64"],
    ],
    [
      "lacks what an exclusion touches, be it an address, a range or a prefix",
      {
        prefixes: ["fd00::/61"],
        excludedPrefixes: ["fd00::7", "fd00:0:0:2:ffff::-fd00:0:0:3::1", "fd00:0:0:6::/63"],
      },
      ["fd00:0:0:1::/64", "fd00:0:0:1::/64", "fd00:0:0:4::/64", "fd00:0:0:5::/64"],
    ],
    ["keeps the gateway's prefix", { prefixes: ["fd00::/64"], gateway: "fd00::1" }, ["fd00::/64", "fd00::/64"]],
    ["must not be empty", { prefixes: [] }, /^spec\.prefixes: specify at least one/],
    ["needs lengths", { prefixes: ["fd00::1"] }, /^spec\.prefixes\[0\]: fd00::1 is not an IPv6 prefix/],
    ["needs whole networks", { prefixes: ["fd00::/64", "fd00::1/64"] }, /^spec\.prefixes\[1\]: fd00::1\/64 has bits/],
    ["must be IPv6", { prefixes: ["10.0.0.0/8"] }, /^spec\.prefixes\[0\]: 10\.0\.0\.0\/8 is not an IPv6/],
    ["must be as short as what it gives", { prefixes: ["fd00::/65"] }, /longer than the allocated prefixes, \/64/],
    [
      "needs a possible length",
      { prefixes: ["fd00::/64"], allocationPrefixLength: 129 },
      /allocationPrefixLength: 129/,
    ],
    ["needs a gateway of IPv6", { prefixes: ["fd00::/64"], gateway: "10.0.0.1" }, /^spec\.gateway: 10\.0\.0\.1/],
    ["needs readable exclusions", { prefixes: ["fd00::/64"], excludedPrefixes: ["x"] }, /^spec\.excludedPrefixes\[0\]/],
    [
      "needs exclusions of IPv6",
      { prefixes: ["fd00::/64"], excludedPrefixes: ["10.0.0.1"] },
      /^spec\.excludedPrefixes\[0\]: 10\.0\.0\.1 is not IPv6/,
    ],
  ];
  test.each(cases)("%s", (_name, spec, expected) => {
    if (expected instanceof RegExp) expect(texts(spec)).toMatch(expected);
    else expect(texts(spec)).toEqual(expected);
  });
});
