import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { TemplateError } from "./lexer.ts";
import { renderTemplate } from "./render.ts";

interface Recorded {
  template: string;
  output?: string;
  error?: string;
}

/** What Go's text/template with sprig renders; see testdata/README.md. */
const { data, cases } = JSON.parse(readFileSync(new URL("testdata/recorded.json", import.meta.url), "utf8")) as {
  data: unknown;
  cases: Recorded[];
};

describe("as Go renders", () => {
  test.each(cases)("$template", ({ template, output, error }) => {
    if (error === undefined) expect(renderTemplate(template, data)).toBe(output);
    else expect(() => renderTemplate(template, data)).toThrow(TemplateError);
  });
});

test("no template and no data make it throw anything but its own error, or hang", () => {
  const piece = fc.constantFrom(
    "{{",
    "}}",
    "{{-",
    "-}}",
    "{{if .a}}",
    "{{else}}",
    "{{end}}",
    "{{range .l}}",
    "{{.a.b}}",
    "{{$x := 1}}",
    "|",
    "(",
    ")",
    "{{printf `%d` .n}}",
    "text",
    "{{index .l 0}}",
    "{{repeat 3 .s}}",
    "{{until 5}}",
    "{{break}}",
    '"',
    "`",
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 8 }), fc.jsonValue(), (pieces, any) => {
      try {
        renderTemplate(pieces.join(""), any);
      } catch (error) {
        expect(error).toBeInstanceOf(TemplateError);
      }
    }),
    { numRuns: 2000 },
  );
});

test.each([
  "{{range until 10000}}{{range until 10000}}x{{end}}{{end}}",
  "{{repeat 100000000 `x`}}",
  // Beyond 2^53 a step leads nowhere.
  "{{untilStep 9007199254740992 9007199254741000 1}}",
  "{{$x := list 1}}{{range until 40}}{{$x = list $x $x}}{{end}}{{$x}}",
  "{{$x := list 1}}{{range until 5000}}{{$x = list $x}}{{end}}{{toJson $x}}",
  "{{$x := list 1}}{{range until 40}}{{$x = list $x $x}}{{end}}{{first (dict `a` $x)}}",
  "{{replace `` (repeat 900000 `x`) (repeat 900000 `y`)}}",
  "{{fromYaml (repeat 100000 `- a\\n`)}}",
  "{{regexMatch `(.{900}){900}` (repeat 90000 `y`)}}",
  "{{regexReplaceAll `a` (repeat 90000 `a`) (repeat 900 `b`)}}",
  "{{uniq (until 9000)}}",
])("%s ends", (template) => {
  expect(() => renderTemplate(template, {})).toThrow(TemplateError);
});

test("an error does not repeat a text of any length", () => {
  expect(() => renderTemplate("{{fail (repeat 900000 `x`)}}", {})).toThrow(/^.{0,1100}$/);
});

test("a replacement is written as it is", () => {
  expect(renderTemplate("{{replace `a` `$&$$` `bab`}}", {})).toBe("b$&$$b");
});
