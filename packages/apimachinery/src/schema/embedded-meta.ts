import { type FieldError, invalidValue, required } from "../field-error.ts";
import { isObject } from "../json.ts";
import { validateObjectMeta } from "../meta-validation.ts";
import { isDns1035Label } from "../names.ts";
import type { SchemaNode } from "./node.ts";

/** Checks apiVersion, kind and metadata of resources embedded in a value; the root's own are checked elsewhere. */
export function checkEmbedded(node: SchemaNode, value: unknown, path: string, errors: FieldError[]): void {
  if (!node.features.embedded || typeof value !== "object" || value === null) return;
  if (Array.isArray(value)) {
    const items = node.items;
    if (items !== undefined) value.forEach((item, i) => checkEmbedded(items, item, `${path}[${i}]`, errors));
    return;
  }
  const object = value as Record<string, unknown>;
  if (node.embedded) checkResource(object, path, errors);
  for (const key in object) {
    const property = node.properties.get(key);
    const child = property ?? node.additional;
    if (child?.features.embedded !== true) continue;
    const below = property === undefined ? `${path}[${key}]` : path === "" ? key : `${path}.${key}`;
    checkEmbedded(child, object[key], below, errors);
  }
}

function checkResource(object: Record<string, unknown>, path: string, errors: FieldError[]): void {
  const at = (name: string): string => (path === "" ? name : `${path}.${name}`);
  for (const name of ["apiVersion", "kind"]) {
    const value = object[name];
    if (value === undefined) errors.push(required(at(name)));
    else if (typeof value !== "string") errors.push(invalidValue(at(name), value, "must be a string"));
    else if (value === "") errors.push(invalidValue(at(name), value, "must not be empty"));
    else if (name === "apiVersion") {
      if (value.split("/").length > 2)
        errors.push(invalidValue(at(name), value, `unexpected GroupVersion string: ${value}`));
    } else {
      const wrong = isDns1035Label(value.toLowerCase());
      if (wrong.length > 0) {
        errors.push(
          invalidValue(at(name), value, `may have mixed case, but should otherwise match: ${wrong.join(",")}`),
        );
      }
    }
  }
  const meta = object["metadata"];
  if (meta === undefined) return;
  if (!isObject(meta)) {
    errors.push(invalidValue(at("metadata"), meta, "must be an object"));
    return;
  }
  const malformed = malformedField(meta);
  if (malformed !== undefined) {
    errors.push(
      invalidValue(at("metadata"), meta, `json: cannot unmarshal into Go struct field ObjectMeta.${malformed}`),
    );
    return;
  }
  const namespaced = typeof meta["namespace"] === "string" && meta["namespace"] !== "";
  const named = typeof meta["name"] === "string" && meta["name"] !== "" ? meta : { ...meta, name: "fakename" };
  errors.push(...validateObjectMeta(named, { namespaced, nameRule: "path-segment", fieldPath: at("metadata") }));
}

const TEXTS = [
  "name",
  "generateName",
  "namespace",
  "uid",
  "resourceVersion",
  "selfLink",
  "creationTimestamp",
  "deletionTimestamp",
];

/** The first field of object metadata whose JSON type is wrong. */
function malformedField(meta: Record<string, unknown>): string | undefined {
  const text = (value: unknown): boolean => typeof value === "string";
  const texts = (value: unknown): boolean => isObject(value) && Object.values(value).every(text);
  const absent = (name: string): boolean => meta[name] === undefined || meta[name] === null;
  const list = (name: string, ok: (item: unknown) => boolean): boolean => {
    const value = meta[name];
    return absent(name) || (Array.isArray(value) && value.every(ok));
  };
  return (
    TEXTS.find((name) => !absent(name) && !text(meta[name])) ??
    ["labels", "annotations"].find((name) => !absent(name) && !texts(meta[name])) ??
    (list("finalizers", text) ? undefined : "finalizers") ??
    (list(
      "ownerReferences",
      (item) =>
        isObject(item) && ["apiVersion", "kind", "name", "uid"].every((k) => item[k] === undefined || text(item[k])),
    )
      ? undefined
      : "ownerReferences")
  );
}
