import { compileSchema, deepCopy, fieldErrorText, type JSONSchemaProps } from "@capstan/apimachinery";
import type { ClusterClass } from "@capstan/capi";

/** Values by the names of their variables. */
export type VariableValues = Record<string, unknown>;

type Definition = NonNullable<ClusterClass["spec"]["variables"]>[number];
type Given = readonly { name: string; value?: unknown }[];

/** Values with defaults filled in, or what is wrong with them. */
export type ResolvedVariables = { values: VariableValues } | { problems: string[] };

/**
 * The values of a class's variables for a cluster: what the cluster gives, completed by defaults and checked against the schemas.
 * Overrides of a part of the cluster only need what they override.
 */
export function resolveVariables(
  definitions: readonly Definition[],
  given: Given,
  path: string,
  override = false,
): ResolvedVariables {
  const values: VariableValues = {};
  const problems: string[] = [];
  const byName = new Map(definitions.map((definition) => [definition.name, definition]));
  for (const [i, { name, value }] of given.entries()) {
    const definition = byName.get(name);
    if (definition === undefined)
      problems.push(`${path}[${i}].name: variable ${name} is not defined in the ClusterClass`);
    else values[name] = checked(definition, value, `${path}[${i}].value`, problems);
  }
  if (override) return problems.length > 0 ? { problems } : { values };
  for (const definition of definitions) {
    if (Object.hasOwn(values, definition.name)) continue;
    const fallback = defaulted(definition, undefined);
    if (fallback !== undefined) values[definition.name] = checked(definition, fallback, path, problems);
    else if (definition.required) problems.push(`${path}: required variable ${definition.name} must be set`);
  }
  return problems.length > 0 ? { problems } : { values };
}

/** The schema wrapped as a field, so that defaults of the value itself work too. */
function compiled(definition: Definition): ReturnType<typeof compileSchema> {
  const schema = definition.schema.openAPIV3Schema as JSONSchemaProps;
  return compileSchema({ type: "object", properties: { value: schema } });
}

function defaulted(definition: Definition, value: unknown): unknown {
  const holder: Record<string, unknown> = value === undefined ? {} : { value: deepCopy(value) };
  compiled(definition).applyDefaults(holder);
  return holder["value"];
}

function checked(definition: Definition, value: unknown, path: string, problems: string[]): unknown {
  try {
    const complete = defaulted(definition, value);
    for (const error of compiled(definition).validate({ value: complete }))
      problems.push(
        `${path}: ${definition.name}: ${fieldErrorText({ ...error, field: error.field.replace(/^value/, definition.name) })}`,
      );
    return complete;
  } catch (error) {
    problems.push(
      `${path}: the schema of ${definition.name} cannot be used: ${error instanceof Error ? error.message : ""}`,
    );
    return value;
  }
}

/** The value a path such as `nodes[0].name` leads to; throws when it leads nowhere. */
export function variableAt(values: VariableValues, path: string): unknown {
  let current: unknown = values;
  for (const segment of path.split(".")) {
    const match = /^([^[\]]*)((?:\[\d+\])*)$/.exec(segment);
    if (match === null) throw new Error(`invalid path of a variable: ${path}`);
    const [, name = "", indexes = ""] = match;
    if (name !== "") {
      if (typeof current !== "object" || current === null || !Object.hasOwn(current, name))
        throw new Error(`variable ${path} has no value`);
      current = (current as Record<string, unknown>)[name];
    }
    for (const [, index] of indexes.matchAll(/\[(\d+)\]/g)) {
      if (!Array.isArray(current) || Number(index) >= current.length) throw new Error(`variable ${path} has no value`);
      current = current[Number(index)];
    }
  }
  return current;
}
