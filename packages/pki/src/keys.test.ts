import { expect, test } from "vitest";
import { readPrivateKey } from "./keys.ts";

test("rejects a text of many BEGIN markers in linear time", () => {
  // Searching for the end from each of them takes minutes.
  expect(() => readPrivateKey("-----BEGIN EC PARAMETERS-----".repeat(60_000))).toThrow("cannot be read");
});
