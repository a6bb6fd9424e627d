import { type FieldError, invalidValue } from "../field-error.ts";
import { deepCopy, deepEqual, isObject } from "../json.ts";
import { checkEmbedded } from "./embedded-meta.ts";
import { nodeOf } from "./node.ts";
import { pruneRoot } from "./prune.ts";
import { runRulesAt } from "./rule-validator.ts";
import { propertyPath } from "./structural-invariants.ts";
import type { JSONSchemaProps } from "./types.ts";
import { validateAt } from "./validate.ts";

/** Defaults must validate against their own schema and survive pruning. Those under additionalProperties are not followed. */
export function checkDefaults(schema: JSONSchemaProps, path: string): FieldError[] {
  const errors: FieldError[] = [];
  visit(schema, path, true, false, errors);
  return errors;
}

function visit(schema: JSONSchemaProps, path: string, root: boolean, insideMeta: boolean, errors: FieldError[]): void {
  const embedded = root || schema["x-kubernetes-embedded-resource"] === true;
  if (schema.default !== undefined && schema.default !== null)
    checkDefault(schema, `${path}.default`, insideMeta, errors);
  if (schema.items !== undefined) visit(schema.items, `${path}.items`, false, insideMeta && !embedded, errors);
  for (const [name, child] of Object.entries(schema.properties ?? {})) {
    const meta = embedded ? ["metadata", "apiVersion", "kind"].includes(name) : insideMeta;
    visit(child, propertyPath(path, name), false, meta, errors);
  }
}

function checkDefault(schema: JSONSchemaProps, path: string, insideMeta: boolean, errors: FieldError[]): void {
  const node = nodeOf(schema);
  const value = schema.default;
  if (!insideMeta && isObject(value)) {
    const pruned = deepCopy(value);
    pruneRoot(node, pruned, node.embedded);
    if (!deepEqual(pruned, value)) errors.push(invalidValue(path, value, "must not have unknown fields"));
  } else if (!insideMeta && Array.isArray(value)) {
    const pruned = { list: deepCopy(value) };
    const unknown = pruneRoot(nodeOf({ type: "object", properties: { list: schema } }), pruned, false);
    if (unknown.length > 0) errors.push(invalidValue(path, value, "must not have unknown fields"));
  }
  const meta: FieldError[] = [];
  if (!insideMeta) checkEmbedded(node, value, path, meta);
  const found = meta.length > 0 ? meta : validateAt(node, value, path);
  errors.push(...(found.length > 0 ? found : defaultRules(schema, value, path)));
}

function defaultRules(schema: JSONSchemaProps, value: unknown, path: string): FieldError[] {
  const node = nodeOf(schema);
  if (!node.features.rules) return [];
  const unchanged = runRulesAt(node, node.embedded, value, value, path);
  return unchanged.length > 0 ? unchanged : runRulesAt(node, node.embedded, value, undefined, path);
}
