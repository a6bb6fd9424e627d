import { type CompiledSchema, compileSchema, deepCopy, type JSONSchemaProps } from "@capstan/apimachinery";
import { invalid, required } from "../admission/problems.ts";
import type { AdmissionProblem } from "../schema/kind.ts";

/** A variable that a ClusterClass defines. */
export interface VariableDefinition {
  name: string;
  required?: boolean;
  schema: { openAPIV3Schema: object };
}

/** Variable values as a Cluster's topology sets them. */
export type GivenVariables = readonly { name: string; value?: unknown }[];

/** Variable values by name, after defaulting. */
export type VariableValues = Record<string, unknown>;

/** Whether `resolveVariables` resolves overrides, and the values before an update. */
export interface ResolveOptions {
  /** Whether the values override those of the Cluster for one part of it, so that neither defaults nor required variables apply. */
  override?: boolean;
  /** The values before an update, for transition rules (oldSelf). */
  old?: GivenVariables | undefined;
}

/**
 * Returns the values of a ClusterClass's variables for a Cluster, with defaults and validated against their schemas, in the order in
 * which they are written back. Never throws: an unusable schema is reported as a problem.
 */
export function resolveVariables(
  definitions: readonly VariableDefinition[],
  given: GivenVariables,
  path: string,
  { override = false, old = [] }: ResolveOptions = {},
): { values: VariableValues; problems: AdmissionProblem[] } {
  const values = new Map<string, unknown>();
  const problems: AdmissionProblem[] = [];
  const byName = new Map(definitions.map((definition) => [definition.name, definition]));
  for (const { name, value } of given) {
    const definition = byName.get(name);
    const at = `${path}[${name}]`;
    if (definition === undefined) problems.push(invalid(at, JSON.stringify(value), "variable is not defined"));
    else if (values.has(name)) problems.push(invalid(at, JSON.stringify(value), "variable is set more than once"));
    else values.set(name, checked(definition, value, old.find((one) => one.name === name)?.value, at, problems));
  }
  for (const definition of override ? [] : definitions) {
    if (values.has(definition.name)) continue;
    const at = `${path}[${definition.name}]`;
    const { default: fallback } = definition.schema.openAPIV3Schema as JSONSchemaProps;
    if (fallback !== undefined) values.set(definition.name, checked(definition, undefined, undefined, at, problems));
    else if (definition.required === true)
      problems.push(required(path, `required variable "${definition.name}" must be set`));
  }
  return { values: Object.fromEntries(values), problems };
}

/** The value with its defaults; what is wrong with it joins the problems. */
function checked(
  definition: VariableDefinition,
  value: unknown,
  old: unknown,
  path: string,
  problems: AdmissionProblem[],
): unknown {
  try {
    const schema = compiled(definition);
    const holder: Record<string, unknown> = value === undefined ? {} : { value: deepCopy(value) };
    schema.applyDefaults(holder);
    const complete = holder["value"];
    const text = JSON.stringify(complete);
    const errors = schema.validate({ value: complete }, old === undefined ? {} : { old: { value: old } });
    problems.push(
      ...errors.map((error): AdmissionProblem => {
        const { field, detail } = error;
        if (error.type === "FieldValueRequired") return required(`${path}.${field}`, detail);
        return error.type === "FieldValueNotSupported"
          ? { type: error.type, field: `${path}.${field}`, value: error.badValue, detail }
          : invalid(`${path}.${field}`, text, detail);
      }),
    );
    const unknown = schema.prune({ value: deepCopy(complete) }, { root: false });
    if (errors.length === 0 && unknown.length > 0) {
      const fields = unknown.map((field) => field.replace(/^value\./, "")).join(",");
      const detail = `failed validation: "${fields}" field(s) are not specified in the variable schema of variable "${definition.name}"`;
      problems.push(invalid(path, text, detail));
    }
    return complete;
  } catch (error) {
    const cause = error instanceof Error ? error.message : "";
    const detail = `the schema of variable "${definition.name}" in the ClusterClass cannot be used: ${cause}`;
    problems.push(invalid(path, JSON.stringify(value), detail));
    return value;
  }
}

/** The schema wrapped as a field, so that defaults of the value itself work too. */
function compiled(definition: VariableDefinition): CompiledSchema {
  const schema = definition.schema.openAPIV3Schema as JSONSchemaProps;
  return compileSchema({ type: "object", properties: { value: schema } });
}
