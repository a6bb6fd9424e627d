import { expect, test } from "vitest";
import { bytesOf, mibOf } from "./size.ts";

test.each([
  ["8GB", 8e9],
  ["8G", 8e9],
  ["8Gi", 8 * 2 ** 30],
  ["8GiB", 8 * 2 ** 30],
  ["1.5Gi", 1.5 * 2 ** 30],
  ["512M", 512e6],
  ["4096", 4096],
  ["1KB", 1000],
])("%s has %i bytes", (text, bytes) => {
  expect(bytesOf(text)).toBe(bytes);
});

test.each(["", "-1Gi", "8 GB", "8gb", "8Gib", "1.0000001Ki", "99999999T"])("%j is no size", (text) => {
  expect(bytesOf(text)).toBeUndefined();
});

test("memory is rounded up to whole MiB", () => {
  expect(mibOf("8GB")).toBe(7630);
  expect(mibOf("8Gi")).toBe(8192);
});
