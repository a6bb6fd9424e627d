import type { JSONSchemaProps } from "@capstan/apimachinery";
import type { Rule } from "./rules.ts";

/** A field while it is being moved. */
interface Draft {
  json: JSONSchemaProps;
  required: boolean;
}

/** A field that was taken out: `required` says for each step of its path whether it must be there. */
interface Taken {
  json: JSONSchemaProps;
  required: readonly boolean[];
}

/** The schema of the old version: that of the stored one with its differences. Nothing is shared that could be changed. */
export function deriveSchema(stored: JSONSchemaProps, rules: readonly Rule[]): JSONSchemaProps {
  let schema = stored;
  const moved: { path: string; draft: Draft }[] = [];
  for (const rule of rules) {
    if (rule.type === "move") {
      const taken = takeField(schema, rule.new.split("."));
      if (taken.field === undefined) throw new Error(`conversion rule names a field that does not exist: ${rule.new}`);
      schema = taken.rest;
      const { json, required } = taken.field;
      const shared = sharedSteps(rule.old, rule.new);
      moved.push({
        path: rule.old,
        draft: { json: rule.codec?.schema(json) ?? json, required: required.slice(shared).every(Boolean) },
      });
    } else if (rule.type === "newOnly" || rule.type === "copied") schema = takeField(schema, rule.path.split(".")).rest;
    else if (rule.type !== "optionalInOld")
      moved.push({ path: rule.path, draft: { json: rule.schema.json, required: false } });
  }
  for (const { path, draft } of moved.reverse()) schema = putField(schema, path.split("."), draft);
  for (const rule of rules) if (rule.type === "optionalInOld") schema = makeOptional(schema, rule.path.split("."));
  return schema;
}

function takeField(schema: JSONSchemaProps, path: readonly string[]): { rest: JSONSchemaProps; field?: Taken } {
  const [key, ...more] = path;
  const child = key === undefined ? undefined : schema.properties?.[key];
  if (key === undefined || child === undefined) return { rest: schema };
  const isRequired = schema.required?.includes(key) === true;
  if (more.length === 0) return { rest: without(schema, key), field: { json: child, required: [isRequired] } };
  const { rest, field } = takeField(child, more);
  const emptied =
    Object.keys(rest.properties ?? {}).length === 0 && rest["x-kubernetes-preserve-unknown-fields"] !== true;
  const outer = emptied ? without(schema, key) : { ...schema, properties: { ...schema.properties, [key]: rest } };
  return {
    rest: outer,
    ...(field === undefined ? {} : { field: { ...field, required: [isRequired, ...field.required] } }),
  };
}

/** How many objects both paths go through before they part: those exist in either version. */
function sharedSteps(old: string, target: string): number {
  const a = old.split(".").slice(0, -1);
  const b = target.split(".").slice(0, -1);
  const parted = a.findIndex((key, index) => key !== b[index]);
  return parted < 0 ? Math.min(a.length, b.length) : parted;
}

function without(schema: JSONSchemaProps, key: string): JSONSchemaProps {
  const { [key]: _, ...properties } = schema.properties ?? {};
  const required = schema.required?.filter((name) => name !== key) ?? [];
  const { required: _before, ...rest } = schema;
  return { ...rest, properties, ...(required.length === 0 ? {} : { required }) };
}

function putField(schema: JSONSchemaProps, path: readonly string[], draft: Draft): JSONSchemaProps {
  const [key, ...more] = path;
  if (key === undefined) return schema;
  const child = schema.properties?.[key];
  if (more.length > 0) {
    const inner = putField(child ?? { type: "object" }, more, draft);
    return { ...schema, properties: { ...schema.properties, [key]: inner } };
  }
  const json =
    child === undefined ? draft.json : { ...draft.json, properties: { ...draft.json.properties, ...child.properties } };
  const required = draft.required ? [...(schema.required ?? []).filter((name) => name !== key), key] : schema.required;
  return {
    ...schema,
    properties: { ...schema.properties, [key]: json },
    ...(required === undefined ? {} : { required }),
  };
}

function makeOptional(schema: JSONSchemaProps, path: readonly string[]): JSONSchemaProps {
  const [key, ...more] = path;
  const child = key === undefined ? undefined : schema.properties?.[key];
  if (key === undefined || child === undefined) return schema;
  if (more.length > 0) return { ...schema, properties: { ...schema.properties, [key]: makeOptional(child, more) } };
  const required = schema.required?.filter((name) => name !== key) ?? [];
  const { required: _, ...rest } = schema;
  return required.length === 0 ? rest : { ...rest, required };
}

/** v1beta1 accepts empty lists, objects and zeros that v1beta2 forbids; descriptions come from the stored version. */
export function loosened(schema: JSONSchemaProps): JSONSchemaProps {
  const {
    minItems: _i,
    minProperties: _p,
    description: _d,
    minimum,
    properties,
    items,
    additionalProperties,
    ...rest
  } = schema;
  return {
    ...rest,
    ...(minimum === undefined || minimum > 0 ? {} : { minimum }),
    ...(properties === undefined
      ? {}
      : { properties: Object.fromEntries(Object.entries(properties).map(([name, field]) => [name, loosened(field)])) }),
    ...(items === undefined ? {} : { items: loosened(items) }),
    ...(additionalProperties === undefined
      ? {}
      : {
          additionalProperties:
            typeof additionalProperties === "boolean" ? additionalProperties : loosened(additionalProperties),
        }),
  };
}
