import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { goJsonError, summarizeBody } from "./go-json-error.ts";

describe("goJsonError", () => {
  // The first five texts were answered by a real kube-apiserver.
  it.each([
    ["{not json", "invalid character 'n' looking for beginning of object key string"],
    ["", "unexpected end of JSON input"],
    ["nope", "invalid character 'o' in literal null (expecting 'u')"],
    ["x", "invalid character 'x' looking for beginning of value"],
    ["i\u00b7", "invalid character 'i' looking for beginning of value"],
    ['{"a" 1}', "invalid character '1' after object key"],
    ['{"a":1 "b":2}', "invalid character '\"' after object key:value pair"],
    ["[1 2]", "invalid character '2' after array element"],
    ["[1,]", "invalid character ']' looking for beginning of value"],
    ['{"a":1,}', "invalid character '}' looking for beginning of object key string"],
    ["{} x", "invalid character 'x' after top-level value"],
    ['{"a":"x\n"}', "invalid character '\\n' in string literal"],
    ['{"a":"\\q"}', "invalid character 'q' in string escape code"],
    ['{"a":-x}', "invalid character 'x' in numeric literal"],
    ['{"a":[1,{"b":tru', "unexpected end of JSON input"],
  ])("%j", (text, expected) => {
    expect(goJsonError(text)).toBe(expected);
  });

  it("says something about any text, quickly", () => {
    fc.assert(fc.property(fc.string({ maxLength: 200 }), (text) => goJsonError(text).length > 0));
  });
});

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
