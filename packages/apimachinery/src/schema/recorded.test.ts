import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { type FieldError, fieldErrorBody } from "../field-error.ts";
import { compileSchema } from "./compile.ts";
import { checkStructuralSchema } from "./structural.ts";
import type { JSONSchemaProps } from "./types.ts";

// Answers of kube-apiserver to the same schemas and objects (`tools/record-objects`).
function recorded<T>(name: string): T {
  return JSON.parse(readFileSync(new URL(`./testdata/${name}.json`, import.meta.url), "utf8")) as T;
}

const causes = (errors: readonly FieldError[]): string[] =>
  errors.map((e) => `${e.field}|${e.type}|${fieldErrorBody(e)}`).sort();

const objectOf = (spec: unknown): Record<string, unknown> => ({
  apiVersion: "t.example.com/v1",
  kind: "K",
  metadata: { name: "x" },
  spec: structuredClone(spec),
});

const specSchema = (spec: JSONSchemaProps): JSONSchemaProps => ({ type: "object", properties: { spec } });

interface ValueGroup {
  spec: JSONSchemaProps;
  cases: { input: unknown; output?: unknown; errors?: string[] }[];
}

/** What is answered here instead, by question; an entry that no longer differs has to be deleted. */
const differences = recorded<Record<string, { output?: unknown; errors?: string[] }>>("differences");

/** The answer to expect: the recorded one, unless it is known to differ. */
function expected<T extends { output?: unknown; errors?: string[] }>(answer: T, ...question: unknown[]): T {
  const key = question.map((part) => JSON.stringify(part)).join(" ");
  const ours = differences[key];
  if (ours === undefined) return answer;
  expect(ours).not.toEqual(answer);
  return { ...answer, output: undefined, errors: undefined, ...ours };
}

describe("values: pruned, defaulted and validated as kube-apiserver does", () => {
  for (const group of [...recorded<ValueGroup[]>("values"), ...recorded<ValueGroup[]>("formats")]) {
    const schema = specSchema(group.spec);
    it.each(group.cases)("$input", ({ input, ...answer }) => {
      const { output, errors } = expected(answer, group.spec, input);
      const compiled = compileSchema(schema);
      const object = objectOf(input);
      compiled.prune(object, { root: true });
      compiled.applyDefaults(object);
      expect(causes(compiled.validate(object))).toEqual(errors ?? []);
      if (errors === undefined) expect(object["spec"] ?? null).toEqual(output);
    });
  }
});

describe("schemas: accepted and refused as kube-apiserver does", () => {
  it.each([
    ...recorded<{ schema: unknown; errors: string[] }[]>("crds"),
    ...recorded<{ schema: unknown; errors: string[] }[]>("refusals"),
  ])("$schema", ({ schema, ...answer }) => {
    const { errors } = expected(answer, schema);
    const found = checkStructuralSchema(schema, "S").map((e) => `${e.field}|${fieldErrorBody(e)}`);
    expect(found.sort()).toEqual(errors);
  });
});

interface Rules {
  properties: Record<string, JSONSchemaProps>;
  spec: unknown;
  rules: { rule: string; error: string | null }[];
  refused: string[];
}

describe("rules: evaluated as kube-apiserver does", () => {
  const { properties, spec, rules, refused } = recorded<Rules>("rules");
  const schemaWith = (rule: string): JSONSchemaProps =>
    specSchema({ type: "object", properties, "x-kubernetes-validations": [{ rule }] });

  it.each(rules)("$rule", ({ rule, error }) => {
    const errors = compileSchema(schemaWith(rule)).validate(objectOf(spec));
    expect(errors.map(fieldErrorBody)).toEqual(error === null ? [] : [error]);
  });

  it.each(refused)("refuses %s", (rule) => {
    expect(checkStructuralSchema(schemaWith(rule), "S")).not.toEqual([]);
  });
});

describe("updates: ratcheting and transition rules as kube-apiserver does", () => {
  const { schema, old, updates } = recorded<{
    schema: JSONSchemaProps;
    old: unknown;
    updates: { spec: unknown; errors: string[] }[];
  }>("updates");
  it.each(updates)("$errors", ({ spec, errors }) => {
    const compiled = compileSchema(schema);
    const next = objectOf(spec);
    compiled.prune(next, { root: true });
    expect(causes(compiled.validate(next, { old: objectOf(old) }))).toEqual(errors);
  });
});
