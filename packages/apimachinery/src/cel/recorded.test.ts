import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { fieldErrorBody } from "../field-error.ts";
import { compileSchema } from "../schema/compile.ts";
import { checkStructuralSchema } from "../schema/structural.ts";
import type { JSONSchemaProps } from "../schema/types.ts";

interface Answer {
  readonly rule: string;
  readonly is?: boolean;
  readonly error?: string;
  readonly refused?: true;
}

// Answers of kube-apiserver 1.37.1 to rules about one object (`tools/record-objects`).
const load = (path: string): unknown => JSON.parse(readFileSync(new URL(path, import.meta.url), "utf8"));
const answers = load("./testdata/expressions.json") as Answer[];
const { properties, spec } = load("../schema/testdata/rules.json") as {
  properties: Record<string, JSONSchemaProps>;
  spec: unknown;
};

function schemaWith(rule: string): JSONSchemaProps {
  const rules = [{ rule, message: "#0#" }];
  return { type: "object", properties: { spec: { type: "object", properties, "x-kubernetes-validations": rules } } };
}

function answerTo(rule: string): Omit<Answer, "rule"> {
  const schema = schemaWith(rule);
  if (checkStructuralSchema(schema, "S").length > 0) return { refused: true };
  const [error] = compileSchema(schema).validate({ spec: structuredClone(spec) });
  if (error === undefined) return { is: true };
  const text = fieldErrorBody(error).replace(/^Invalid value(?:: "object")?: /, "");
  return text === "#0#" ? { is: false } : { error: text.replace(/ ?(evaluating rule|for rule): #0#$/, "") };
}

/** What this evaluator answers instead, by rule; an entry that no longer differs has to be deleted. */
const differences = load("./testdata/differences.json") as Record<string, Omit<Answer, "rule">>;

it.each(answers)("$rule", ({ rule, ...answer }) => {
  const ours = differences[rule];
  if (ours !== undefined) expect(ours).not.toEqual(answer);
  expect(answerTo(rule)).toEqual(ours ?? answer);
});

it("lists differences of recorded rules only", () => {
  const recorded = new Set(answers.map(({ rule }) => rule));
  expect(Object.keys(differences).filter((rule) => !recorded.has(rule))).toEqual([]);
});
