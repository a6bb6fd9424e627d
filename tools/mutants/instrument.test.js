import { runInThisContext } from "node:vm";
import { describe, expect, test } from "vitest";
import { instrumented, mutantsOf } from "./instrument.mjs";

/** What a function of plain JavaScript returns with each of its mutants. @param {string} source @param {unknown[]} args */
function outcomes(source, ...args) {
  const mutants = mutantsOf("x.ts", source).map((mutant, id) => ({ ...mutant, id }));
  const text = instrumented(source, mutants);
  /** @param {number} active */
  const run = (active) => {
    const before = Reflect.get(globalThis, "__mutant");
    Reflect.set(globalThis, "__mutant", (/** @type {number} */ id) => id === active);
    try {
      return runInThisContext(`(() => { ${text}; return f; })()`)(...structuredClone(args));
    } catch (error) {
      return error instanceof Error ? error.constructor.name : error;
    } finally {
      Reflect.set(globalThis, "__mutant", before);
    }
  };
  return { original: run(-1), mutants: Object.fromEntries(mutants.map(({ id, what }) => [what, run(id)])) };
}

describe("the instrumented program", () => {
  test.each([
    ["function f(a, b) { return a + b; }", [2, 3], 5, { "+ → -": -1, "function body emptied": undefined }],
    [
      "function f(a) { return a < 2; }",
      [2],
      false,
      { "< → <=": true, "< → >=": true, "function body emptied": undefined },
    ],
    [
      "function f(a) { return a < 2; }",
      [1],
      true,
      { "< → <=": true, "< → >=": false, "function body emptied": undefined },
    ],
    ["const f = (a) => a?.b;", [undefined], undefined, { "?. → .": "TypeError", "result → undefined": undefined }],
    ["const f = (a) => a ?? 1;", [undefined], 1, { "?? → &&": undefined, "result → undefined": undefined }],
    [
      "const f = () => [true];",
      [],
      [true],
      { "array → []": [], "true → false": [false], "result → undefined": undefined },
    ],
    [
      "const f = (a) => a.filter((x) => x > 1);",
      [[1, 2]],
      [2],
      expect.objectContaining({ "filter() left out": [1, 2] }),
    ],
    ["const f = (a) => !a && a === 1;", [1], false, expect.objectContaining({ "! left out": true })],
  ])("%s", (source, args, original, mutants) => {
    expect(outcomes(source, ...args)).toEqual({ original, mutants });
  });

  test("nests mutants", () => {
    const { original, mutants } = outcomes(
      "function f(a) { if (a.length > 1) { a.push(0); return a; } return []; }",
      [1, 2],
    );
    expect(original).toEqual([1, 2, 0]);
    expect(mutants).toEqual({
      "> → >=": [1, 2, 0],
      "call left out": [1, 2],
      "condition → false": [],
      "condition → true": [1, 2, 0],
      "function body emptied": undefined,
    });
  });

  test("leaves names, types and messages alone", () => {
    const source = 'import x from "y"; type T = "a" | true; const f = (a: T): void => { throw new Error("bad"); };';
    expect(mutantsOf("x.ts", source).map(({ what }) => what)).toEqual(["function body emptied"]);
    expect(mutantsOf("x.ts", 'const { a: b } = { a: "a message" };').map(({ what }) => what)).toEqual(["object → {}"]);
  });

  test("keeps the first line of a program that a shell starts", () => {
    const source = "#!/usr/bin/env node\nf();\n";
    const mutants = mutantsOf("x.ts", source).map((mutant, id) => ({ ...mutant, id }));
    expect(mutants).toMatchObject([{ line: 2, what: "call left out", source: "f();" }]);
    expect(instrumented(source, mutants)).toMatch(/^#!\/usr\/bin\/env node\nconst __mutant/);
  });
});
