import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { templateProblem } from "./check.ts";

interface Recorded {
  template: string;
  error?: string;
}

const { cases } = JSON.parse(readFileSync(new URL("testdata/recorded.json", import.meta.url), "utf8")) as {
  cases: Recorded[];
};

test.each(cases.filter(({ error }) => error === undefined))("$template is right before it is rendered", (given) => {
  expect(templateProblem(given.template)).toBeUndefined();
});

test.each([
  ["{{ .x", "unclosed action"],
  ["{{ if }}x{{ end }}", "missing value for command"],
  ["{{ if .x }}", "{{if}} has no {{end}}"],
  ["{{ nope .x }}", 'function "nope" not defined'],
  ["{{ if eq (nope .x) 1 }}{{ end }}", 'function "nope" not defined'],
  ["{{ if false }}{{ nope }}{{ end }}", 'function "nope" not defined'],
  ["{{ if .x }}{{ else }}{{ .x | nope }}{{ end }}", 'function "nope" not defined'],
  ["{{ $x }}", "undefined variable $x"],
  ["{{ $x = 1 }}", "undefined variable $x"],
])("%s: %s", (template, problem) => {
  expect(templateProblem(template)).toContain(problem);
});

test("variables that are declared and the data itself are known", () => {
  expect(templateProblem("{{ $x := 1 }}{{ range $i, $e := .list }}{{ $i }}{{ $e }}{{ $x }}{{ $.y }}{{ end }}")).toBe(
    undefined,
  );
});
