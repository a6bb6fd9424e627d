import { expect, test } from "vitest";
import { readPrivateKey } from "./keys.ts";

test("a text of many beginnings is no key, and is refused in the time of reading it once", () => {
  // Searching for the end from each of them takes minutes.
  expect(() => readPrivateKey("-----BEGIN EC PARAMETERS-----".repeat(60_000))).toThrow("cannot be read");
});
