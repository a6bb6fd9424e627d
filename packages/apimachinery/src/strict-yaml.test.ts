import { expect, test } from "vitest";
import { parse } from "yaml";
import { parseStrictYaml, toStrictYaml, unsafeCharacter } from "./strict-yaml.ts";
import { toGoYaml, toYaml } from "./yaml.ts";

test.each([
  ["a: 1\nb: [x, 'y', \"z\\x41\"]\nc: {d: ~, e: true}\n", { a: 1, b: ["x", "y", "zA"], c: { d: null, e: true } }],
  ["\ufeffa: b\r\nc: |\r\n  d\r\n  e\r\n", { a: "b", c: "d\ne\n" }],
  ['{\n\t"a": "b",\n\t"c": [1.5]\n}\n', { a: "b", c: [1.5] }],
  ["a: 10.0.0.1\nb: 2h\nc: v1.34\nd: -0.5\ne: a:b\n", { a: "10.0.0.1", b: "2h", c: "v1.34", d: -0.5, e: "a:b" }],
  ["---\n# only this\na: {}\n", { a: {} }],
])("%j is read", (text, value) => {
  expect(parseStrictYaml(text)).toEqual(value);
});

test.each([
  ["a: b # c\r  exec: d\n", "U+000D"],
  ["a: b # c\x85  exec: d\n", "U+0085"],
  ["a: b # c\u2028  exec: d\n", "U+2028"],
  ["a: b # c\u2029  exec: d\n", "U+2029"],
  ["a: \ufeffb\n", "U+FEFF"],
  ["a: \ud800b\n", "U+D800"],
  [Buffer.from([0x61, 0x3a, 0x20, 0xff, 0x0a]).toString(), "U+FFFD"],
  ["a: b\0\n", "U+0000"],
  ['a: "\\N"\n', "U+0085 in a value in line 1"],
  ["\u212aubeConfigFile: a\n", "other characters than ASCII"],
  ['"\\u212aubeConfigFile": a\n', "other characters than ASCII"],
  ["u\u017fers: []\n", "other characters than ASCII"],
  ["a: 1\nb: 2\na: 3\n", 'the key "a" twice in line 3'],
  ["a: &x 1\n", "an anchor in line 1"],
  ["a: &x 1\nb: *x\n", "an anchor"],
  ["b: *x\n", "BAD_ALIAS|alias"],
  ["a: !!str b\n", "a tag in line 1"],
  ["a: !!binary YQ==\n", "a tag|TAG_RESOLVE_FAILED"],
  ["a: ! b\n", "a tag"],
  ["<<: {a: b}\n", "merge key|no text"],
  ["a: b\n---\nc: d\n", "several documents"],
  ["%YAML 1.1\n---\na: b\n", "begins with %"],
  ["a: yes\n", "put it in quotes"],
  ["a: 012\n", "put it in quotes"],
  ["a: 0x1f\n", "put it in quotes"],
  ["a: 1_000\n", "put it in quotes"],
  ["a: 1e3\n", "put it in quotes"],
  ["a: .inf\n", "put it in quotes"],
  ["a: 1:30\n", "put it in quotes"],
  ["a: 2001-12-14\n", "put it in quotes"],
  ["a: 9007199254740993\n", "put it in quotes"],
  ["true: a\n", "a key in line 1 that is no text"],
  ["? a\n: b\n", "without a colon"],
  ["{a:[b]}\n", "without a colon"],
  ["a: 'b''\nc: it's\n", "do not end in their line"],
  ['a: "b\n  c"\n', "do not end in their line"],
  ['a: "\\ud83d\\ude00"\n', "an escape that not all programs know"],
  ["\ta: b\n", "begins with a tab"],
  ["a: |\n  b", "no end of its last line"],
  ["a:\n- \tb\n", "behind a dash"],
  ["a: |2\n    b\n     \n", "a number for its indentation"],
  ["a: >-1\n  b\n", "a number for its indentation"],
  ["a: {:b: c}\n", "put it in quotes"],
  ["# a\n...\n", "neither a map nor a list"],
  ["|\r\na: b\n", "neither a map nor a list"],
  ["", "is empty"],
  ["a: [\n", "cannot be read as YAML"],
  ["[".repeat(5000), "nested too deeply"],
])("%j is refused", (text, problem) => {
  expect(() => parseStrictYaml(text)).toThrow(new RegExp(problem.replaceAll("+", "\\+")));
});

test("what may be a secret is not repeated", () => {
  for (const text of ["a: *swordfish\n", "a: !swordfish b\n", 'a: "x" swordfish: [\n', "a: &swordfish b\n"])
    expect(() => parseStrictYaml(text)).toThrow(/^(?!.*swordfish)/);
});

test("an unsafe character is named", () => {
  expect(unsafeCharacter("a\u2028")).toBe("U+2028");
  expect(unsafeCharacter("a\tb\nc é 😀")).toBeUndefined();
});

test("what is written has no end of a line that only some readers see", () => {
  for (const end of ["\x85", "\u2028", "\u2029"])
    for (const text of [`a${end}b: c`, `a\n${end}b: c\n`, `a${end}b`])
      for (const write of [toStrictYaml, toYaml, toGoYaml]) {
        const written = write({ key: text, [`k${end}`]: [text] });
        expect(written).not.toContain(end);
        expect(parse(written)).toEqual({ key: text, [`k${end}`]: [text] });
      }
});
