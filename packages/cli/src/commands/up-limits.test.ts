import { expect, test } from "vitest";
import { limitsOf } from "./up-limits.ts";

test("reads how many connections are taken, and refuses what is no count", () => {
  expect(limitsOf({ options: {} })).toEqual({});
  expect(limitsOf({ options: { maxConnections: "10", maxUnauthenticatedConnections: "3" } })).toEqual({
    maxConnections: 10,
    maxUnauthenticatedPerAddress: 3,
  });
  for (const bad of ["0", "-1", "many", "1e3", ""])
    expect(() => limitsOf({ options: { maxConnections: bad } })).toThrow(/--max-connections .* at least 1/);
});
