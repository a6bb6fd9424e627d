import { describe, expect, test } from "vitest";
import { fnv32a, labelValue } from "./label-value.ts";

describe("label values of names", () => {
  test("hash of upstream's published vectors", () => {
    // FNV-1a, 32 bits: test vectors of its authors.
    expect(fnv32a("")).toBe(0x811c9dc5);
    expect(fnv32a("a")).toBe(0xe40c292c);
    expect(fnv32a("foobar")).toBe(0xbf9cf968);
  });

  test("hashes long names", () => {
    expect(labelValue("short")).toBe("short");
    expect(labelValue("x".repeat(64))).toMatch(/^hash_[\w-]{6}_z$/);
  });
});
