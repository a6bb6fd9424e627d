import { DEFAULT_CONNECTION_LIMITS } from "@capstan/apimachinery";
import { expect, test } from "vitest";
import { limitsOf } from "./up-limits.ts";

test("limits that are not given do not hide the defaults", () => {
  expect({ ...DEFAULT_CONNECTION_LIMITS, ...limitsOf({ options: {} }) }).toStrictEqual(DEFAULT_CONNECTION_LIMITS);
  const given = limitsOf({ options: { maxConnections: "7", maxUnauthenticatedConnections: "2" } });
  expect(given).toStrictEqual({ maxConnections: 7, maxUnauthenticatedPerAddress: 2 });
});

test.each(["0", "-1", "many", "1.5", "12345678"])("refuses %s connections", (count) => {
  expect(() => limitsOf({ options: { maxConnections: count } })).toThrow(
    `--max-connections ${count} is not a number of connections: use at least 1`,
  );
});
