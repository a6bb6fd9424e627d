import fc from "fast-check";
import { RE2JS } from "re2js";
import { describe, expect, it } from "vitest";
import { fieldErrorText } from "../field-error.ts";
import { deepCopy } from "../json.ts";
import { isValid } from "./check.ts";
import { compileSchema } from "./compile.ts";
import { compileDfa } from "./dfa.ts";
import { nodeOf } from "./node.ts";
import { checkStructuralSchema } from "./structural.ts";
import type { JSONSchemaProps } from "./types.ts";
import { validateRoot } from "./validate.ts";

const name = fc.constantFrom("a", "b", "c", "__proto__", "constructor");

/** Structural schemas over few names, so that random values often meet them. */
const schemas = fc.letrec<{ node: JSONSchemaProps }>((tie) => ({
  node: fc.oneof(
    { maxDepth: 3 },
    fc.record(
      {
        type: fc.constant("string"),
        maxLength: fc.nat(3),
        pattern: fc.constantFrom("^a*$", "b"),
        nullable: fc.boolean(),
        default: fc.constantFrom("", "a"),
      },
      { requiredKeys: ["type"] },
    ),
    fc.record(
      { type: fc.constant("integer"), minimum: fc.integer({ min: -2, max: 2 }), default: fc.nat(3) },
      { requiredKeys: ["type"] },
    ),
    fc.record({ type: fc.constantFrom("boolean", "number"), enum: fc.constant([true, 1]) }, { requiredKeys: ["type"] }),
    fc.record(
      { type: fc.constant("array"), items: tie("node"), maxItems: fc.nat(3) },
      { requiredKeys: ["type", "items"] },
    ),
    fc.record({ type: fc.constant("object"), additionalProperties: tie("node") }),
    fc.record(
      {
        type: fc.constant("object"),
        properties: fc.dictionary(name, tie("node"), { maxKeys: 3 }),
        required: fc.uniqueArray(fc.constantFrom("a", "b"), { maxLength: 2 }),
        "x-kubernetes-preserve-unknown-fields": fc.constant(true),
        anyOf: fc.constant([{ required: ["a"] }, { required: ["b"] }]),
      },
      { requiredKeys: ["type", "properties"] },
    ),
    fc.constant<JSONSchemaProps>({ "x-kubernetes-int-or-string": true }),
  ) as fc.Arbitrary<JSONSchemaProps>,
})).node;

const values = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(null, true, 0, 1, -3, 1.5, "", "a", "aa", "b", "bbbb"),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom("a", "b", "c", "d"), tie("value"), { maxKeys: 4 }),
  ),
})).value;

const roots = fc.tuple(
  schemas.map((spec): JSONSchemaProps => ({ type: "object", properties: { spec } })),
  values.map((spec): Record<string, unknown> => ({ apiVersion: "v1", kind: "K", metadata: { name: "x" }, spec })),
  values.map((spec): Record<string, unknown> => ({ apiVersion: "v1", kind: "K", metadata: { name: "x" }, spec })),
);

describe("schema laws", () => {
  it("the quick check passes exactly when the full validation finds nothing", () => {
    fc.assert(
      fc.property(roots, ([schema, object]) => {
        const node = nodeOf(schema);
        expect(isValid(node, object)).toBe(validateRoot(node, object, undefined).ok);
      }),
      { numRuns: 300 },
    );
  });

  it("pruning and defaulting are idempotent and pruning drops only what it reports", () => {
    fc.assert(
      fc.property(roots, ([schema, object]) => {
        const compiled = compileSchema(schema);
        const before = deepCopy(object);
        const dropped = compiled.prune(object, { root: true });
        if (dropped.length === 0) expect(object).toEqual(before);
        expect(compiled.prune(object, { root: true })).toEqual([]);
        compiled.applyDefaults(object);
        const once = deepCopy(object);
        compiled.applyDefaults(object);
        expect(object).toEqual(once);
      }),
      { numRuns: 300 },
    );
  });

  it("ratcheting never adds errors", () => {
    fc.assert(
      fc.property(roots, ([schema, object, old]) => {
        const compiled = compileSchema(schema);
        const plain = new Set(compiled.validate(object).map((e) => JSON.stringify(e)));
        for (const error of compiled.validate(object, { old })) expect(plain).toContain(JSON.stringify(error));
      }),
      { numRuns: 300 },
    );
  });

  it("of a valid object ratcheting finds the same whether unchanged parts are the same value or a copy", () => {
    fc.assert(
      fc.property(schemas, schemas, values, values, values, (kept, spec, same, before, after) => {
        const compiled = compileSchema({ type: "object", properties: { kept, spec } });
        const meta = { apiVersion: "v1", kind: "K", metadata: { name: "x" }, kept: same };
        const [old, object] = [
          { ...meta, spec: before },
          { ...meta, spec: after },
        ];
        fc.pre(compiled.validate(old).length === 0);
        expect(compiled.validate(object, { old })).toEqual(compiled.validate(deepCopy(object), { old }));
      }),
      { numRuns: 300 },
    );
  });

  it("defaults are copies: changing an object does not change the schema", () => {
    const schema: JSONSchemaProps = {
      type: "object",
      properties: {
        a: { type: "object", default: { l: [1] }, properties: { l: { type: "array", items: { type: "integer" } } } },
      },
    };
    const object: Record<string, unknown> = {};
    compileSchema(schema).applyDefaults(object);
    (object["a"] as { l: number[] }).l.push(2);
    const other: Record<string, unknown> = {};
    compileSchema(schema).applyDefaults(other);
    expect(other).toEqual({ a: { l: [1] } });
  });
});

describe("malformed schemas", () => {
  const keyword = fc.constantFrom(
    "type",
    "properties",
    "items",
    "additionalProperties",
    "allOf",
    "not",
    "required",
    "enum",
    "default",
    "pattern",
    "maxItems",
    "x-kubernetes-validations",
    "x-kubernetes-list-type",
    "x-kubernetes-list-map-keys",
    "nullable",
    "rule",
  );
  it("are answered with errors, never with an exception", () => {
    const junk = fc.letrec<{ v: unknown }>((tie) => ({
      v: fc.oneof(
        { maxDepth: 4 },
        fc.constantFrom(null, "object", "array", 1, true, "x"),
        fc.array(tie("v"), { maxLength: 2 }),
        fc.dictionary(keyword, tie("v"), { maxKeys: 4 }),
      ),
    })).v;
    fc.assert(
      fc.property(junk, (schema) => {
        for (const error of checkStructuralSchema(schema, "S")) expect(fieldErrorText(error)).toMatch(/^S/);
      }),
      { numRuns: 500 },
    );
  });
});

describe("pattern automaton", () => {
  const patterns = [
    "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$",
    "^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$",
    "^(ab|a)*b?$",
    "^a{2,3}b{1,}$",
    "^(a|b){2}c*$",
    "^\\d+(\\.\\d+)?%?$",
    "^$",
    "^(|a)b$",
    "^v[0-9]+((alpha|beta)[0-9]+)?$",
  ];

  const engines = new Map(patterns.map((pattern) => [pattern, RE2JS.compile(pattern)]));

  it("accepts what RE2 accepts", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...patterns),
        fc.string({ unit: fc.constantFrom("a", "b", "c", "-", ".", "1", "v", "ä", "%"), maxLength: 10 }),
        (pattern, text) => {
          const run = compileDfa(pattern);
          if (run === undefined) throw new Error(`${pattern} should be simple enough`);
          expect(run(text)).toBe(engines.get(pattern)?.matcher(text).find());
        },
      ),
      { numRuns: 1500 },
    );
  });

  it.each(["a|b", "^a|b$", "^.*$", "^[^a]$", "(?i)^a$", "^a*?$", "^a$b$", "^[[:alpha:]]$", "^\\bx$", "^a\\$"])(
    "leaves %s to RE2",
    (pattern) => {
      expect(compileDfa(pattern)).toBeUndefined();
    },
  );

  it("answers a hostile pattern at once", () => {
    const compiled = compileSchema({ type: "object", properties: { s: { type: "string", pattern: "^(a+)+$" } } });
    expect(compiled.validate({ s: `${"a".repeat(50_000)}!` })).toHaveLength(1);
  });
});
