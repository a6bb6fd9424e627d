import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { countKeys, duplicateFields, opensTooDeep } from "./json-scan.ts";

const complaints = (text: string): string[] => duplicateFields(text, countKeys(JSON.parse(text)) ?? -1);

describe("duplicateFields", () => {
  it.each([
    ['{"a":1,"a":2}', ['duplicate field "a"']],
    ['{"a":{"b":1,"c":2,"b":3}}', ['duplicate field "a.b"']],
    ['{"l":[{"x":1},{"x":1,"x":2}]}', ['duplicate field "l[1].x"']],
    ['{"a" : 1 , "a" : "\\":\\":"}', ['duplicate field "a"']],
    ['{"a":"\\":","b":"a\\"b"}', []],
    ['{"a":{"k":1},"b":{"k":1}}', []],
    ["[]", []],
  ])("%s", (text, expected) => {
    expect(complaints(text)).toEqual(expected);
  });

  it("never complains about what JSON.stringify writes", () => {
    fc.assert(fc.property(fc.json(), (text) => complaints(text).length === 0));
  });

  it("finds any key that is written twice", () => {
    fc.assert(
      fc.property(fc.string(), fc.jsonValue(), (key, value) => {
        const name = JSON.stringify(key);
        const text = `{"outer":{${name}:${JSON.stringify(value)},${name}:1}}`;
        return complaints(text).length === 1;
      }),
    );
  });
});

describe("countKeys", () => {
  it("gives up on values that are nested too deep", () => {
    const deep = `${"[".repeat(2000)}${"]".repeat(2000)}`;
    expect(countKeys(JSON.parse(deep))).toBeUndefined();
  });
});

describe("opensTooDeep", () => {
  it("sees brackets, not what is in strings", () => {
    const filler = " ".repeat(70_000);
    expect(opensTooDeep(`${"[".repeat(1002)}${filler}`)).toBe(true);
    expect(opensTooDeep(`"${"[".repeat(2000)}\\"${"[".repeat(2000)}"${filler}`)).toBe(false);
    expect(opensTooDeep(`[${"[],".repeat(30_000)}[]]`)).toBe(false);
  });
});
