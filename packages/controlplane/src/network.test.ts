import fc from "fast-check";
import { expect, test } from "vitest";
import { cidrsOverlap, hostPort, isIPAddress, nthAddress, parseCidr } from "./network.ts";

test.each([
  ["10.96.0.0/16", 1, "10.96.0.1"],
  ["10.96.0.0/12", 10, "10.96.0.10"],
  ["10.96.3.7/24", 10, "10.96.3.10"],
  ["fd00:10:96::/112", 1, "fd00:10:96::1"],
  ["fd00:10:96::/112", 10, "fd00:10:96::a"],
  ["::/0", 1, "::1"],
])("%s has %i-th address %s", (cidr, n, address) => {
  expect(nthAddress(cidr, n)).toBe(address);
});

test.each([
  "10.0.0.0",
  "10.0.0.0/33",
  "10.0.0/8",
  "300.0.0.0/8",
  "fd00::/129",
  "x/8",
  "10.0.0.0/8/8",
  "01.0.0.0/8",
  "",
])("%s is not a CIDR", (text) => {
  expect(parseCidr(text)).toBeUndefined();
});

test("overlap is symmetric, and every range overlaps itself and what contains it", () => {
  const cidr = fc.tuple(fc.ipV4(), fc.integer({ min: 1, max: 32 })).map(([ip, prefix]) => `${ip}/${prefix}`);
  fc.assert(
    fc.property(cidr, cidr, (a, b) => {
      expect(cidrsOverlap(a, b)).toBe(cidrsOverlap(b, a));
      expect(cidrsOverlap(a, a)).toBe(true);
      expect(cidrsOverlap(a, "0.0.0.0/0")).toBe(true);
    }),
  );
  expect(cidrsOverlap("10.96.0.0/16", "10.244.0.0/16")).toBe(false);
  expect(cidrsOverlap("10.96.0.0/12", "10.100.0.0/16")).toBe(true);
  expect(cidrsOverlap("10.0.0.0/8", "fd00::/8")).toBe(false);
});

test("distinguishes addresses from names, and puts IPv6 into brackets", () => {
  expect(["10.0.0.1", "::1", "fe80::1"].every(isIPAddress)).toBe(true);
  expect(["api.example", "1.2.3", "10.0.0.256", ""].some(isIPAddress)).toBe(false);
  expect(hostPort("::1", 6443)).toBe("[::1]:6443");
});
