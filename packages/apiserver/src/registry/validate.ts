import {
  type FieldError,
  fieldErrorText,
  invalid,
  invalidValue,
  sameObjectMeta,
  type Unstructured,
  validateObjectMeta,
  validateObjectMetaUpdate,
} from "@capstan/apimachinery";
import { CRD_KEY } from "../crd/crd-object.ts";
import type { ResourceType } from "../types.ts";
import { compiledSchema } from "./compiled.ts";
import { isCustom } from "./custom-type.ts";
import { scaleValueErrors } from "./scale-values.ts";

/** Refuses a new object that breaks its type's rules: metadata, schema with CEL, and what the kind itself checks. */
export function validateCreate(type: ResourceType, object: Unstructured): void {
  const errors = validateObjectMeta(object.metadata, metaOptions(type));
  if (type.builtin) errors.push(...bareFinalizers(object));
  if (isCustom(type)) errors.push(...compiledSchema(type.schema).validate(object), ...scaleErrors(type, object));
  errors.push(...(type.strategy.validate?.(object) ?? []));
  refuse(type, object, errors);
}

/** The same for a change, with errors on what did not change forgiven (ratcheting) and immutable metadata checked. */
export function validateUpdate(type: ResourceType, object: Unstructured, old: Unstructured, subresource: string): void {
  const errors = metadataErrors(type, object, old);
  if (isCustom(type))
    errors.push(...compiledSchema(type.schema).validate(object, { old }), ...scaleErrors(type, object));
  const { strategy } = type;
  errors.push(...(strategy.validateUpdate?.(object, old, subresource) ?? strategy.validate?.(object) ?? []));
  refuse(type, object, errors);
}

function metadataErrors(type: ResourceType, object: Unstructured, old: Unstructured): FieldError[] {
  // A status write of a custom resource: only the owners of fields changed, and those the server wrote.
  if (!type.builtin && sameObjectMeta(object.metadata, old.metadata)) return [];
  const whole = validateObjectMeta(object.metadata, metaOptions(type));
  const update = validateObjectMetaUpdate(object.metadata, old.metadata);
  const inStore = [...whole, ...update];
  // Upstream checks this twice, in the generic store and in the kind's strategy, and reports both for CRDs and their objects.
  return type.builtin && type.group !== CRD_KEY.group ? distinct(inStore) : [...inStore, ...distinct(update)];
}

/** Without errors that say the same again. */
function distinct(errors: readonly FieldError[]): FieldError[] {
  return [...new Map(errors.map((error) => [fieldErrorText(error), error])).values()];
}

function scaleErrors(type: ResourceType, object: Unstructured): FieldError[] {
  return type.scale === undefined ? [] : scaleValueErrors(type.scale, object);
}

const STANDARD_FINALIZERS = new Set(["kubernetes", "orphan", "foregroundDeletion"]);

/** Built-in kinds demand a domain in front of a finalizer; custom resources get away with a warning. */
function bareFinalizers(object: Unstructured): FieldError[] {
  return (object.metadata.finalizers ?? []).flatMap((name, i) =>
    name.includes("/") || STANDARD_FINALIZERS.has(name)
      ? []
      : [
          invalidValue(
            `metadata.finalizers[${i}]`,
            name,
            "name is neither a standard finalizer name nor is it fully qualified",
          ),
        ],
  );
}

function metaOptions(type: ResourceType): Parameters<typeof validateObjectMeta>[1] {
  const { nameRule } = type.strategy;
  return nameRule === undefined ? { namespaced: type.namespaced } : { namespaced: type.namespaced, nameRule };
}

function refuse(type: ResourceType, object: Unstructured, errors: readonly FieldError[]): void {
  if (errors.length === 0) return;
  // Both views of events are core events inside upstream.
  const group = type.storedAs?.group ?? type.group;
  throw invalid({ group, kind: type.kind }, object.metadata.name ?? "", errors);
}
