import { expect, test } from "vitest";
import { parseBmcAddress } from "./bmc-address.ts";

test("slashes at the end of the path are left out, and in the middle they cost nothing", () => {
  expect(parseBmcAddress("redfish://192.0.2.1/redfish/v1/Systems/1//").path).toBe("/redfish/v1/Systems/1");
  // Looking for the end from each of them takes minutes.
  const slashes = "/".repeat(400_000);
  expect(parseBmcAddress(`redfish://192.0.2.1${slashes}x`).path).toBe(`${slashes}x`);
});
