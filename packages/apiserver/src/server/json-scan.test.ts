import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { countKeys, duplicateFields, hasTooManyValues, structureProblem } from "./json-scan.ts";

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

describe("structureProblem", () => {
  it("sees brackets and commas, not what is in strings", () => {
    const filler = " ".repeat(70_000);
    expect(structureProblem(`${"[".repeat(1002)}${filler}`, 50_000)).toBe("deep");
    expect(structureProblem(`"${"[".repeat(2000)}\\"${"[".repeat(2000)}"${filler}`, 50_000)).toBeUndefined();
    expect(structureProblem(`[${"[],".repeat(20_000)}[]]`, 50_000)).toBeUndefined();
    expect(structureProblem(`[${"[],".repeat(30_000)}[]]`, 50_000)).toBe("many");
    expect(structureProblem(`"${",".repeat(60_000)}"${filler}`, 50_000)).toBeUndefined();
  });

  it("agrees with counting the parsed values", () => {
    expect(
      hasTooManyValues(
        Array.from({ length: 50_001 }, () => 1),
        50_000,
      ),
    ).toBe(true);
    expect(hasTooManyValues({ a: Array.from({ length: 24_000 }, () => ({ b: null })) }, 50_000)).toBe(false);
    expect(hasTooManyValues({ a: Array.from({ length: 26_000 }, () => ({ b: null })) }, 50_000)).toBe(true);
  });
});
