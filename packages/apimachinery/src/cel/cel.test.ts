import { Environment } from "@marcbachmann/cel-js";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compileSchema } from "../schema/compile.ts";
import { checkStructuralSchema } from "../schema/structural.ts";
import type { JSONSchemaProps } from "../schema/types.ts";
import { type CelProgram, compileCel } from "./compile-cel.ts";
import { escapeName } from "./escape.ts";
import { type AskAccess, authorizerVariables } from "./lib-authorizer.ts";

function program(expression: string, variables: Record<string, string> = {}): CelProgram {
  const compiled = compileCel(expression, variables);
  if ("errors" in compiled) throw new Error(compiled.errors.join("\n"));
  return compiled;
}

describe("match conditions", () => {
  const variables = { object: "dyn", oldObject: "dyn", request: "dyn" };
  it.each([
    ["object.metadata.namespace != 'kube-system'", true],
    ["request.operation in ['CREATE', 'UPDATE']", true],
    ["has(object.metadata.labels) && object.metadata.labels['a'] == 'b'", true],
    ["object.spec.replicas > 2", true],
    ["oldObject == null", true],
    ["request.userInfo.groups.exists(g, g.startsWith('system:'))", false],
    ["object.?spec.?missing.orValue(7) == 7", true],
    ["object.spec.missing == 1", "no such key: missing"],
  ])("%s", (expression, expected) => {
    const run = (): unknown =>
      program(expression, variables).evaluate({
        object: { metadata: { namespace: "default", labels: { a: "b" } }, spec: { replicas: 3 } },
        oldObject: null,
        request: { operation: "CREATE", userInfo: { groups: ["a"] } },
      });
    if (typeof expected === "string") expect(run).toThrow(expected);
    else expect(run()).toBe(expected);
  });

  it.each([
    ["authorizer.path('/x').check('get').allowed()", "get path /x"],
    [
      "authorizer.group('g').resource('r').subresource('s').namespace('n').name('m').check('v').allowed()",
      "v g/r/s n/m",
    ],
    ["authorizer.serviceAccount('n', 'sa').group('g').resource('r').check('v').allowed()", "v g/r/ / as n:sa"],
    ["authorizer.requestResource.name('other').check('v').reason() == 'because'", "v apps/deployments/ ns/other"],
    ["[1].exists(authorizer, authorizer == 1)", ""],
    ["authorizer.path('').check('get').allowed()", new Error("path must not be empty")],
    [
      "authorizer.serviceAccount('n', 'A b').path('/x').check('get').allowed()",
      new Error("Invalid service account name"),
    ],
  ])("asks %s", (expression, expected) => {
    const asked: string[] = [];
    const ask: AskAccess = (q) => {
      const who = q.serviceAccount === undefined ? "" : ` as ${q.serviceAccount.namespace}:${q.serviceAccount.name}`;
      const what =
        q.path === undefined ? `${q.group}/${q.resource}/${q.subresource} ${q.namespace}/${q.name}` : `path ${q.path}`;
      asked.push(`${q.verb} ${what}${who}`);
      return { allowed: true, reason: "because" };
    };
    const types = { authorizer: "Authorizer", "authorizer.requestResource": "ResourceCheck" };
    const request = { group: "apps", resource: "deployments", subresource: "", namespace: "ns", name: "d" };
    const run = (): unknown => program(expression, types).evaluate(authorizerVariables(ask, request));
    if (expected instanceof Error) expect(run).toThrow(expected);
    else {
      expect(run()).toBe(true);
      expect(asked.join()).toBe(expected);
    }
  });

  it("names the place of a mistake", () => {
    const compiled = compileCel("object.a +", variables);
    expect("errors" in compiled && compiled.errors[0]).toMatch(/^ERROR: <input>:1:11: Syntax error/);
  });
});

describe("limits", () => {
  const steps = "[1,2,3,4,5,6,7,8,9,10]";
  it("stops an expression that costs too much", () => {
    const nested = `${steps}.all(a, ${steps}.all(b, ${steps}.all(c, ${steps}.all(d, ${steps}.all(e, ${steps}.all(f, a + b + c + d + e + f > 0))))))`;
    expect(() => program(nested).evaluate({})).toThrow("operation cancelled: actual cost limit exceeded");
  });

  it("reports an exceeded budget as a validation error", () => {
    const items: JSONSchemaProps = { type: "array", items: { type: "integer" } };
    const schema: JSONSchemaProps = {
      type: "object",
      properties: { l: items },
      "x-kubernetes-validations": [
        { rule: "self.l.all(a, self.l.all(b, self.l.all(c, a + b + c >= 0)))" },
        { rule: "false" },
      ],
    };
    const errors = compileSchema(schema).validate({ l: Array.from({ length: 200 }, (_, i) => i) });
    expect(errors).toHaveLength(1);
    expect(errors[0]?.detail).toContain(
      "no further validation rules will be run due to call cost exceeds limit for rule",
    );
  });

  it.each([
    ["deep parentheses", `${"(".repeat(10_000)}1${")".repeat(10_000)}`],
    ["long field chains", `object${".a".repeat(10_000)}`],
    ["long sums", Array.from({ length: 10_000 }, () => "1").join("+")],
    ["many signs", `${"-".repeat(50_000)}1 == 1`],
    ["chained optMap", `optional.of(1)${".optMap(x, x)".repeat(2000)}`],
  ])("survives %s", (_name, expression) => {
    expect(() => compileCel(expression, { object: "dyn" })).not.toThrow();
  });

  it("long chains of || stay shallow", () => {
    const expression = Array.from({ length: 5000 }, () => "false").join(" || ");
    expect(program(expression).evaluate({})).toBe(false);
  });
});

describe("agreement with another implementation", () => {
  const ints = fc.integer({ min: -20, max: 20 }).map(String);
  const texts = fc.constantFrom("'a'", "'bc'", "''", "'ä'");
  const { bool } = fc.letrec<{ bool: string; int: string }>((tie) => ({
    int: fc.oneof(
      { maxDepth: 4 },
      ints,
      fc.constant("x"),
      fc
        .tuple(tie("int"), fc.constantFrom("+", "-", "*", "/", "%"), tie("int"))
        .map(([a, op, b]) => `(${a} ${op} ${b})`),
      texts.map((text) => `${text}.size()`),
      fc.tuple(tie("bool"), tie("int"), tie("int")).map(([c, a, b]) => `(${c} ? ${a} : ${b})`),
    ),
    bool: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom("true", "false"),
      fc
        .tuple(tie("int"), fc.constantFrom("<", "<=", ">", ">=", "==", "!="), tie("int"))
        .map(([a, op, b]) => `(${a} ${op} ${b})`),
      fc.tuple(tie("bool"), fc.constantFrom("&&", "||"), tie("bool")).map(([a, op, b]) => `(${a} ${op} ${b})`),
      tie("bool").map((a) => `!${a}`),
      fc
        .tuple(fc.constantFrom("all", "exists", "exists_one"), tie("int"))
        .map(([macro, a]) => `[1, 2, x].${macro}(i, i < ${a})`),
    ),
  }));

  const oracle = new Environment().registerVariable("x", "int");

  it("on random integer and boolean expressions", () => {
    fc.assert(
      fc.property(bool, fc.integer({ min: -5, max: 5 }), (expression, x) => {
        const outcome = (run: () => unknown): unknown => {
          try {
            return run();
          } catch {
            return "error";
          }
        };
        expect(outcome(() => program(expression, { x: "int" }).evaluate({ x }))).toEqual(
          outcome(() => oracle.evaluate(expression, { x: BigInt(x) })),
        );
      }),
      { numRuns: 300 },
    );
  });
});

describe("literals", () => {
  it.each([
    ["int('abc') == 1", "program instantiation failed: type conversion error from 'string' to 'int'"],
    ["string(b'\\xff') == 'x'", "program instantiation failed: invalid UTF-8 in bytes, cannot convert to string"],
    ["duration('x') > duration('1s')", "invalid duration argument"],
  ])("%s is refused when the schema is written", (rule, text) => {
    const schema = { type: "object", properties: {}, "x-kubernetes-validations": [{ rule }] };
    expect(checkStructuralSchema(schema, "S").map((e) => e.detail)).toEqual([expect.stringContaining(text)]);
  });
});

describe("escaped names", () => {
  it.each([
    ["a", "a"],
    ["a-b", "a__dash__b"],
    ["a.b/c", "a__dot__b__slash__c"],
    ["a__b", "a__underscores__b"],
    ["namespace", "__namespace__"],
    ["1a", undefined],
    ["a b", undefined],
    ["", undefined],
  ])("%s → %s", (name, escaped) => {
    expect(escapeName(name)).toBe(escaped);
  });
});
