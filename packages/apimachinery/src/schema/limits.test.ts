import { describe, expect, it } from "vitest";
import { runSteps } from "../steps.ts";
import { compileSchema } from "./compile.ts";
import { compilePattern } from "./pattern.ts";
import { checkStructuralSchema, structuralSteps } from "./structural.ts";
import type { JSONSchemaProps } from "./types.ts";

const list = (items: JSONSchemaProps): JSONSchemaProps => ({
  type: "object",
  properties: { items: { type: "array", items } },
});

describe("unbounded work", () => {
  it("limits how much defaults can grow an object", () => {
    const schema = compileSchema(
      list({
        type: "object",
        properties: { a: { type: "array", items: { type: "string" }, default: ["x", "y", "z"] } },
      }),
    );
    const few = { items: [{}, {}] };
    schema.applyDefaults(few);
    expect(few.items).toEqual([{ a: ["x", "y", "z"] }, { a: ["x", "y", "z"] }]);
    const many = { items: Array.from({ length: 20_000 }, () => ({})) };
    expect(() => schema.applyDefaults(many)).toThrow(/defaults of the schema add more than/);
  });

  it("reports a limited number of errors, each once", () => {
    const schema = compileSchema(list({ type: "string" }));
    const errors = schema.validate({ items: Array.from({ length: 5_000 }, (_, i) => i) });
    expect(errors).toHaveLength(1_000);
    expect(new Set(errors.map(({ field }) => field)).size).toBe(1_000);
  });

  it("limits the length of a regular expression", () => {
    expect(compilePattern(`^${"a?".repeat(2_000)}$`).error).toBeUndefined();
    expect(compilePattern("a".repeat(10_000)).error).toMatch(/longer than 8192 characters/);
  });

  it("checking a schema in steps finds what checking it at once does, and pauses on the way", () => {
    const rules = Array.from({ length: 100 }, (_, i) => ({ rule: i === 70 ? "self.nope" : `self.a != 'v${i}'` }));
    const schema = {
      type: "object",
      properties: { spec: { type: "object", properties: { a: { type: "string", pattern: "(" } } } },
      "x-kubernetes-validations": rules,
    };
    const valid = { ...schema, properties: { a: { type: "string", maxLength: 5 } } };
    for (const one of [schema, valid]) {
      const steps = structuralSteps(one, "schema");
      let pauses = 0;
      let step = steps.next();
      for (; step.done !== true; step = steps.next()) pauses++;
      expect(step.value).toEqual(checkStructuralSchema(one, "schema"));
      expect(step.value).not.toHaveLength(0);
      expect(pauses).toBeGreaterThan(4);
    }
    expect(runSteps(structuralSteps({ type: "object" }, "schema"))).toEqual([]);
  });
});
