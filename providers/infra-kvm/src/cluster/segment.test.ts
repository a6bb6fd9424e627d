import { expect, test } from "vitest";
import { segmentOf } from "./segment.ts";

const key = { namespace: "default", name: "c1" };

test.each([
  [undefined, 1, "192.168.126.1/24"],
  [undefined, 254, "192.168.126.254/24"],
  ["10.20.0.0/16", 256, "10.20.1.0/16"],
  ["10.20.0.77/28", 14, "10.20.0.78/28"],
])("in %s machine %i has the address %s", (cidr, index, address) => {
  expect(segmentOf(key, cidr, index)?.address).toBe(address);
});

test.each([
  [undefined, 255],
  [undefined, 0],
  ["10.20.0.0/28", 15],
  ["300.0.0.0/24", 1],
])("in %s there is no address for machine %i", (cidr, index) => {
  expect(segmentOf(key, cidr, index)).toBeUndefined();
});

test("clusters of the same name in other namespaces have other segments", () => {
  const [a, b] = [segmentOf(key, undefined, 1), segmentOf({ ...key, namespace: "other" }, undefined, 1)];
  expect(a?.group).toMatch(/^239(\.\d+){3}$/);
  expect([a?.group, a?.port]).not.toEqual([b?.group, b?.port]);
});
