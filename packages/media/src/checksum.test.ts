import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { digestIn } from "./checksum.ts";

const digest = (algorithm: string): string => createHash(algorithm).update("the image").digest("hex");

test("reads checksum files in their usual formats", () => {
  const at = "http://i/a/live.iso";
  expect(digestIn(`# comment\nSHA256 (live.iso) = ${digest("sha256")}\n`, at, "f")).toBe(digest("sha256"));
  expect(digestIn(`${digest("md5")}\n`, at, "f")).toBe(digest("md5"));
  expect(() => digestIn(`${digest("md5")}  none.iso\nx\n`, at, "f")).toThrow("f has no line for live.iso");
});
