import {
  type CompiledApplySchema,
  type CompiledSchema,
  compileApplySchema,
  compileSchema,
  type JSONSchemaProps,
} from "@capstan/apimachinery";

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

/** Likewise for field ownership. */
export function compiledApplySchema(schema: JSONSchemaProps): CompiledApplySchema {
  let compiled = applySchemas.get(schema);
  if (compiled === undefined) {
    compiled = compileApplySchema(schema);
    applySchemas.set(schema, compiled);
  }
  return compiled;
}
