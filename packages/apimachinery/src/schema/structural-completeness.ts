import { type FieldError, required } from "../field-error.ts";
import { propertyPath } from "./structural-invariants.ts";
import type { JSONSchemaProps } from "./types.ts";

/** Whatever a junctor constrains must also be specified outside of junctors. Only the root's junctors are looked at, as upstream does. */
export function checkCompleteness(schema: JSONSchemaProps, path: string): FieldError[] {
  const errors: FieldError[] = [];
  junctors(schema, schema, path, path, errors);
  return errors;
}

function junctors(v: JSONSchemaProps, s: JSONSchemaProps, sPath: string, vPath: string, errors: FieldError[]): void {
  nested(v.not, s, sPath, `${vPath}.not`, errors);
  v.allOf?.forEach((part, i) => nested(part, s, sPath, `${vPath}.allOf[${i}]`, errors));
  v.anyOf?.forEach((part, i) => nested(part, s, sPath, `${vPath}.anyOf[${i}]`, errors));
  v.oneOf?.forEach((part, i) => nested(part, s, sPath, `${vPath}.oneOf[${i}]`, errors));
}

function nested(
  v: JSONSchemaProps | undefined,
  s: JSONSchemaProps | undefined,
  sPath: string,
  vPath: string,
  errors: FieldError[],
): void {
  if (v === undefined) return;
  if (s === undefined) {
    errors.push(required(sPath, `because it is defined in ${vPath}`));
    return;
  }
  junctors(v, s, sPath, vPath, errors);
  nested(v.items, s.items, `${sPath}.items`, `${vPath}.items`, errors);
  for (const [name, child] of Object.entries(v.properties ?? {})) {
    const known = s.properties !== undefined && Object.hasOwn(s.properties, name) ? s.properties[name] : undefined;
    nested(child, known, propertyPath(sPath, name), propertyPath(vPath, name), errors);
  }
}
