import { type FieldError, invalid, type Unstructured, validateObjectMeta, validateObjectMetaUpdate } from "@capstan/apimachinery";
import type { ResourceType } from "../types.ts";
import { compiledSchema } from "./compiled.ts";
import { isCustom } from "./custom-type.ts";

/** Refuses a new object that breaks its type's rules: metadata, schema with CEL, and what the kind itself checks. */
export function validateCreate(type: ResourceType, object: Unstructured): void {
  const errors = validateObjectMeta(object.metadata, metaOptions(type));
  if (isCustom(type)) errors.push(...compiledSchema(type.schema).validate(object));
  errors.push(...(type.strategy.validate?.(object) ?? []));
  refuse(type, object, errors);
}

/** The same for a change, with errors on what did not change forgiven (ratcheting) and immutable metadata checked. */
export function validateUpdate(type: ResourceType, object: Unstructured, old: Unstructured, subresource: string): void {
  const errors = [...validateObjectMeta(object.metadata, metaOptions(type)), ...validateObjectMetaUpdate(object.metadata, old.metadata)];
  if (isCustom(type)) errors.push(...compiledSchema(type.schema).validate(object, { old }));
  const { strategy } = type;
  errors.push(...(strategy.validateUpdate?.(object, old, subresource) ?? strategy.validate?.(object) ?? []));
  refuse(type, object, errors);
}

function metaOptions(type: ResourceType): Parameters<typeof validateObjectMeta>[1] {
  const { nameRule } = type.strategy;
  return nameRule === undefined ? { namespaced: type.namespaced } : { namespaced: type.namespaced, nameRule };
}

function refuse(type: ResourceType, object: Unstructured, errors: readonly FieldError[]): void {
  if (errors.length === 0) return;
  throw invalid({ group: type.group, kind: type.kind }, object.metadata.name ?? "", errors);
}
