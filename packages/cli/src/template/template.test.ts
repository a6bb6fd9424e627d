import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fillTemplate, templateVariables } from "./process.ts";

const VALUES: Record<string, string> = { A: "alpha/beta.gamma", B: "Hello", U: "ärger", EMPTY: "", P: "a.b.c" };
const fill = (text: string): string => fillTemplate(text, (name) => VALUES[name]);

/** The output of clusterctl v1.13.6 `generate yaml` for the same text; `npm run clusterctl` compares it again. */
export const FILLED: readonly (readonly [template: string, filled: string])[] = [
  ["${A}", "alpha/beta.gamma"],
  ["$A $${A} $$", "$A ${A} $"],
  ["${ A } ${A } ${ A}", "alpha/beta.gamma alpha/beta.gamma alpha/beta.gamma"],
  ["${NONE:=x} ${NONE:-y} ${NONE=z}", "x y z"],
  ["${NONE:=${B}-${P}}", "Hello-a.b.c"],
  ["${EMPTY:=filled}", "filled"],
  ["${NONE:?x} ${NONE:+y}", "x y"],
  ["${B^^} ${B,,} ${B,} ${B^}", "HELLO hello hello Hello"],
  ["${U^} ${#U} ${U:2}", "Ärger 6 rger"],
  ["${B:1} ${B:1:2} ${B:1:99} ${B:9} ${B:-2}", "ello el ello  Hello"],
  ["${B:x} ${B:1:y}", "Hello Hello"],
  ["${A#*a} ${A##*a} ${A%a*} ${A%%a*}", "lpha/beta.gamma  alpha/beta.gamm "],
  ["${P#*.} ${P##*.} ${P%.*} ${P%%.*}", "b.c c a.b a"],
  ["${P#[a-z].} ${P#?.} ${P#z}", "b.c b.c a.b.c"],
  [
    "${A/a/X} ${A//a/X} ${A/#al/X} ${A/%ma/X} ${A/a/}",
    "Xlpha/beta.gamma XlphX/betX.gXmmX Xpha/beta.gamma alpha/beta.gamX lpha/beta.gamma",
  ],
  ["${A/alpha\\/b/X}", "Xeta.gamma"],
  ["${#B} ${#A}", "5 16"],
];

describe("clusterctl's template language", () => {
  test.each(FILLED)("%s", (template, filled) => {
    expect(fill(template)).toBe(filled);
  });

  test.each([
    ["${", "unable to parse variable name"],
    ["${A", "missing closing brace"],
    ["${A-b}", "missing closing brace"],
    ["${A/b}", "bad substitution"],
    ["x\ny ${A#}", "template, line 2, column"],
    ["${B::2}", "unable to parse substitution within function"],
  ])("%s is refused", (template, problem) => {
    expect(() => fill(template)).toThrow(problem);
  });

  test("lists variables with the default of their first occurrence", () => {
    expect([...templateVariables("${B:=b} ${A} ${B:=c} ${C:=${A}} ${D:=}")]).toEqual([
      ["A", undefined],
      ["B", "b"],
      ["C", "${A}"],
      ["D", undefined],
    ]);
  });

  test("names all missing variables", () => {
    expect(() => fill("${X} ${Y} ${Z:=z}")).toThrow("value for variables [X, Y] is not set");
  });

  test("leaves text without dollar signs unchanged", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const plain = text.replaceAll("$", "");
        expect(fill(plain)).toBe(plain);
      }),
    );
  });

  test("any invalid text fails with a UserError", () => {
    const piece = fc.constantFrom(
      "${",
      "}",
      "A",
      ":",
      "=",
      "-",
      "/",
      "#",
      "%",
      "^",
      ",",
      "$",
      "\\",
      "x",
      "*",
      "[",
      "]",
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 20 }), (pieces) => {
        try {
          fill(pieces.join(""));
        } catch (error) {
          expect((error as Error).name).toBe("UserError");
        }
      }),
      { numRuns: 2000 },
    );
  });
});
