import { describe, expect, test } from "vitest";
import { addressBytes, parseAddressRange, specialAddress } from "./address-class.ts";

const classOf = (text: string): string | undefined => {
  const bytes = addressBytes(text);
  if (bytes === undefined) throw new Error(`${text} is no address`);
  return specialAddress(bytes);
};

describe("special addresses: first and last of a range, and the neighbours outside", () => {
  test.each([
    ["an unspecified address", ["0.0.0.0", "0.255.255.255", "::"], ["1.0.0.0"]],
    ["a loopback address", ["127.0.0.0", "127.255.255.255", "::1"], ["126.255.255.255", "128.0.0.0", "2001::1"]],
    [
      "a link-local address",
      ["169.254.0.0", "169.254.255.255", "fe80::", "febf:ffff::1"],
      ["169.253.255.255", "169.255.0.0", "fe7f::1", "fec0::"],
    ],
    [
      "a multicast address",
      ["224.0.0.0", "239.255.255.255", "ff00::", "ffff::"],
      ["223.255.255.255", "240.0.0.0", "feff::"],
    ],
    ["a broadcast address", ["255.255.255.255"], ["255.255.255.254"]],
    [
      "the address of a cloud's metadata service",
      ["100.100.100.200", "168.63.129.16", "192.0.0.192", "fd00:ec2::254", "fd20:ce::254"],
      ["100.100.100.201", "168.63.129.17", "192.0.0.193", "fd00:ec2::255", "fd20:ce::253"],
    ],
  ])("%s", (title, inside, outside) => {
    expect(inside.map((text) => [text, classOf(text)])).toEqual(inside.map((text) => [text, title]));
    expect(outside.map((text) => [text, classOf(text)])).toEqual(outside.map((text) => [text, undefined]));
  });

  // 169.254.169.254 is a9fe:a9fe.
  test.each([
    ["IPv4-compatible", "::a9fe:a9fe"],
    ["IPv4-mapped", "::ffff:a9fe:a9fe"],
    ["IPv4-translated", "::ffff:0:a9fe:a9fe"],
    ["NAT64", "64:ff9b::a9fe:a9fe"],
    ["NAT64 of local use, /48", "64:ff9b:1:a9fe:1a9:fe01:101:101"],
    ["NAT64 of local use, /56", "64:ff9b:1:1a9:1fe:a9fe:101:101"],
    ["NAT64 of local use, /64", "64:ff9b:1:101:1a9:fea9:fe01:101"],
    ["NAT64 of local use, /96", "64:ff9b:1:101:101:101:a9fe:a9fe"],
    ["6to4", "2002:a9fe:a9fe::"],
  ])("an IPv6 address that stands for a link-local one: %s", (_, text) => {
    expect(classOf(text)).toBe("a link-local address");
  });
});

describe("ranges of addresses", () => {
  test.each(["10.0.0.0/8", "10.1.2.3", "fd00::/8", "[fd00::1]:443", "10.0.0.1:80"])("%s is one", (text) => {
    expect(parseAddressRange(text)).toBeDefined();
  });
  test.each(["", "10.0.0.0/33", "fd00::/129", "10.0.0.0/-1", "10.0.0.0/x", "example.com", "10.0.0"])(
    "%s is none",
    (text) => {
      expect(parseAddressRange(text)).toBeUndefined();
    },
  );
});
