import { describe, expect, it } from "vitest";
import { summarizeBody } from "./summarize-body.ts";

describe("summarizeBody", () => {
  it.each([
    ["", "<empty>"],
    ["{x", "{x"],
    ["[]", "5b5d"],
    [`{${"x".repeat(40)}`, `{${"x".repeat(29)} ...`],
  ])("%j", (text, expected) => {
    expect(summarizeBody(Buffer.from(text))).toBe(expected);
  });
});
