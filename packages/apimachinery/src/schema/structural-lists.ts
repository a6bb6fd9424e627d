import { type FieldError, forbiddenField, invalidValue, notSupported, required } from "../field-error.ts";
import { propertyPath } from "./structural-invariants.ts";
import type { JSONSchemaProps } from "./types.ts";

/** Rules about x-kubernetes-list-type, x-kubernetes-list-map-keys and x-kubernetes-map-type. */
export function checkListExtensions(schema: JSONSchemaProps, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const type = schema.type ?? "";
  const mapType = schema["x-kubernetes-map-type"];
  const listType = schema["x-kubernetes-list-type"];
  const keys = schema["x-kubernetes-list-map-keys"] ?? [];
  if (mapType !== undefined && type !== "object") {
    errors.push(typeError(path, type, "must be object if x-kubernetes-map-type is specified"));
  }
  if (mapType !== undefined && mapType !== "atomic" && mapType !== "granular") {
    errors.push(notSupported(`${path}.x-kubernetes-map-type`, mapType, ["atomic", "granular"]));
  }
  if (listType !== undefined && type !== "array") {
    errors.push(typeError(path, type, "must be array if x-kubernetes-list-type is specified"));
  } else if (listType === "set" && schema.items !== undefined) errors.push(...setItemErrors(schema.items, path));
  if (listType !== undefined && listType !== "atomic" && listType !== "set" && listType !== "map") {
    errors.push(notSupported(`${path}.x-kubernetes-list-type`, listType, ["atomic", "set", "map"]));
  }
  if (keys.length > 0) {
    const detail = "must be map if x-kubernetes-list-map-keys is non-empty";
    if (listType === undefined) errors.push(required(`${path}.x-kubernetes-list-type`, detail));
    else if (listType !== "map") errors.push(invalidValue(`${path}.x-kubernetes-list-type`, listType, detail));
  }
  if (listType === "map") errors.push(...mapListErrors(schema, keys, path));
  if (listType === "map" || listType === "set") errors.push(...itemErrors(schema, keys, listType, path));
  return errors;
}

function typeError(path: string, type: string, detail: string): FieldError {
  return type === "" ? required(`${path}.type`, detail) : invalidValue(`${path}.type`, type, detail);
}

function setItemErrors(items: JSONSchemaProps, path: string): FieldError[] {
  const detail = "must be atomic as item of a list with x-kubernetes-list-type=set";
  const listType = items["x-kubernetes-list-type"];
  if (items.type === "array" && listType !== undefined && listType !== "atomic") {
    return [invalidValue(`${path}.items.x-kubernetes-list-type`, listType, detail)];
  }
  if (items.type === "object" && items["x-kubernetes-map-type"] !== "atomic") {
    return [invalidValue(`${path}.items.x-kubernetes-map-type`, listType ?? null, detail)];
  }
  return [];
}

function mapListErrors(schema: JSONSchemaProps, keys: readonly string[], path: string): FieldError[] {
  const errors: FieldError[] = [];
  const items = schema.items;
  if (keys.length === 0) {
    errors.push(required(`${path}.x-kubernetes-list-map-keys`, "must not be empty if x-kubernetes-list-type is map"));
  }
  if (items === undefined) {
    errors.push(required(`${path}.items`, "must have a schema if x-kubernetes-list-type is map"));
    return errors;
  }
  if (items.type !== "object") {
    errors.push(
      invalidValue(
        `${path}.items.type`,
        items.type ?? "",
        "must be object if parent array's x-kubernetes-list-type is map",
      ),
    );
    return errors;
  }
  const seen = new Set<string>();
  for (const key of keys) {
    const property =
      items.properties !== undefined && Object.hasOwn(items.properties, key) ? items.properties[key] : undefined;
    if (property === undefined) {
      errors.push(
        invalidValue(`${path}.x-kubernetes-list-map-keys`, keys, "entries must all be names of item properties"),
      );
    } else if (property.type === "array" || property.type === "object") {
      const detail = "must be a scalar type if parent array's x-kubernetes-list-type is map";
      errors.push(invalidValue(`${propertyPath(`${path}.items`, key)}.type`, items.type, detail));
    }
    if (seen.has(key)) {
      errors.push(invalidValue(`${path}.x-kubernetes-list-map-keys`, keys, "must not contain duplicate entries"));
    }
    seen.add(key);
  }
  return errors;
}

function itemErrors(schema: JSONSchemaProps, keys: readonly string[], listType: string, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const items = schema.items;
  if (items === undefined) return errors;
  if (items.nullable === true) {
    errors.push(
      forbiddenField(`${path}.items.nullable`, `cannot be nullable when x-kubernetes-list-type is ${listType}`),
    );
  }
  if (listType !== "map") return errors;
  for (const key of keys) {
    const property =
      items.properties !== undefined && Object.hasOwn(items.properties, key) ? items.properties[key] : undefined;
    if (property === undefined) continue;
    const at = propertyPath(`${path}.items`, key);
    if (items.required?.includes(key) !== true && property.default === undefined) {
      const detail =
        "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property";
      errors.push(required(`${at}.default`, detail));
    }
    if (property.nullable === true) {
      errors.push(
        forbiddenField(`${at}.nullable`, "this property is in x-kubernetes-list-map-keys, so it cannot be nullable"),
      );
    }
  }
  return errors;
}
