import type { JSONSchemaProps } from "@capstan/apimachinery";
import fc from "fast-check";

const TIMES = ["2026-01-02T03:04:05Z", "2030-12-31T23:59:59Z", "1999-01-01T00:00:00Z"];
/** Go prints these as they stand, some with parts of seconds. */
const DURATIONS = ["0s", "5s", "1m30s", "10m0s", "1h0m0s", "1.5s", "500ms", "12h30m15s"];
const MAX_LIST = 3;

/** Values that a schema accepts; CEL rules are not looked at. */
export function arbitraryOf(schema: JSONSchemaProps): fc.Arbitrary<unknown> {
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  if (schema["x-kubernetes-int-or-string"] === true) return fc.oneof(fc.nat(100), fc.constantFrom("25%", "100%"));
  switch (schema.type) {
    case "object":
      return arbitraryObject(schema);
    case "array":
      return arbitraryList(schema);
    case "string":
      return arbitraryString(schema);
    case "integer":
    case "number":
      return fc.integer({
        min: schema.minimum ?? 0,
        max: Math.max(schema.minimum ?? 0, Math.min(schema.maximum ?? 100_000, 100_000)),
      });
    case "boolean":
      return fc.boolean();
    default:
      return fc.oneof(fc.constantFrom("text", 1, true, { nested: [1, 2] }, []), fc.nat(9));
  }
}

/** Whole objects of a kind: metadata and what the schema says. */
export function arbitraryObjectOf(apiVersion: string, kind: string, schema: JSONSchemaProps): fc.Arbitrary<object> {
  const { required: _, ...parts } = schema;
  return fc
    .record({
      body: arbitraryObject(parts) as fc.Arbitrary<object>,
      labels: fc.option(fc.constantFrom({ a: "b" }), { nil: undefined }),
    })
    .map(({ body, labels }) => ({
      apiVersion,
      kind,
      metadata: { name: "some-name", namespace: "some-space", labels },
      ...body,
    }));
}

function arbitraryObject(schema: JSONSchemaProps): fc.Arbitrary<unknown> {
  const { properties, additionalProperties } = schema;
  if (properties === undefined) {
    if (typeof additionalProperties !== "object") return fc.constantFrom({}, { any: { thing: 1 } });
    const keys = fc.constantFrom("a", "b.example.com/c", "node-labels", "z");
    // Maps of plain texts are labels and the like: mostly valid ones, so that rules behind them are reached too.
    const isText = additionalProperties.type === "string" && Object.keys(additionalProperties).length === 1;
    const values = isText ? fc.constantFrom("b", "c-1", "", "not a label!") : arbitraryOf(additionalProperties);
    return fc.dictionary(keys, values, { maxKeys: MAX_LIST, noNullPrototype: true });
  }
  const required = new Set(schema.required ?? []);
  const fields = Object.entries(properties).map(([name, field]) => [name, arbitraryOf(field)] as const);
  return fc
    .record(Object.fromEntries(fields), { requiredKeys: [...required], noNullPrototype: true })
    .filter((value) => Object.keys(value).length >= (schema.minProperties ?? 0));
}

function arbitraryList(schema: JSONSchemaProps): fc.Arbitrary<unknown> {
  const bounds = { minLength: schema.minItems ?? 0, maxLength: Math.max(MAX_LIST, schema.minItems ?? 0) };
  const item = arbitraryOf(schema.items ?? {});
  const keys = schema["x-kubernetes-list-map-keys"];
  const unique = namesOnce(schema);
  if (keys === undefined && !unique) return fc.array(item, bounds);
  const identity = unique ? ["name"] : (keys ?? []);
  return fc.uniqueArray(item, {
    ...bounds,
    selector: (value) => JSON.stringify(identity.map((key) => (value as Record<string, unknown>)[key])),
  });
}

/** Lists whose rule says that names stand once. */
function namesOnce(schema: JSONSchemaProps): boolean {
  return schema["x-kubernetes-validations"]?.some(({ rule }) => rule.includes("x.name == y.name")) === true;
}

function arbitraryString(schema: JSONSchemaProps): fc.Arbitrary<string> {
  const { pattern, format, minLength = 0, maxLength = 20 } = schema;
  if (format === "date-time") return fc.constantFrom(...TIMES);
  if (pattern?.includes("ns|us") === true) return fc.constantFrom(...DURATIONS);
  if (pattern !== undefined)
    return fc
      .stringMatching(new RegExp(pattern), { size: "xsmall" })
      .filter((text) => text.length >= minLength && text.length <= (schema.maxLength ?? 1000));
  return fc.string({ minLength, maxLength: Math.max(Math.min(maxLength, 12), minLength), unit: "grapheme-ascii" });
}
