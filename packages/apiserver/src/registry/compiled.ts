import {
  builtinZeroObject,
  type CompiledApplySchema,
  type CompiledSchema,
  compileApplySchema,
  compileSchema,
  type JSONSchemaProps,
} from "@capstan/apimachinery";
import type { ResourceType } from "../types.ts";

const schemas = new WeakMap<JSONSchemaProps, CompiledSchema>();
const applySchemas = new WeakMap<JSONSchemaProps, CompiledApplySchema>();

/** The compiled form of a schema: made on first use and shared by every server of the process that has the same schema value. */
export function compiledSchema(schema: JSONSchemaProps): CompiledSchema {
  let compiled = schemas.get(schema);
  if (compiled === undefined) {
    compiled = compileSchema(schema);
    schemas.set(schema, compiled);
  }
  return compiled;
}

/** Likewise for field ownership of a type's objects. */
export function compiledApplySchema(type: ResourceType): CompiledApplySchema {
  const { schema } = type;
  let compiled = applySchemas.get(schema);
  if (compiled === undefined) {
    compiled = compileApplySchema(schema, type.builtin ? builtinZeroObject(type.group, type.kind) : undefined);
    applySchemas.set(schema, compiled);
  }
  return compiled;
}
