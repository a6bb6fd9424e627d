import { type FieldError, forbiddenField, invalidValue, required, tooLong } from "./field-error.ts";
import { goQuote } from "./go-text.ts";
import { parseGroupVersion } from "./gvk.ts";
import { deepEqual, isObject } from "./json.ts";
import { isDns1123Label, isDns1123Subdomain, isLabelValue, isPathSegment, isQualifiedName } from "./names.ts";
import type { ObjectMeta, OwnerReference } from "./object.ts";

/** The rule for metadata.name. */
export type NameRule = "dns-subdomain" | "dns-label" | "path-segment";

/** Which rules an object's metadata must meet. */
export interface ObjectMetaRules {
  namespaced: boolean;
  /** Default: dns-subdomain. */
  nameRule?: NameRule;
  /** Default: `metadata`. */
  fieldPath?: string;
}

const MAX_ANNOTATION_BYTES = 256 * 1024;
const MAX_MANAGER_BYTES = 128;
const MAX_SUBRESOURCE_BYTES = 256;

function nameErrors(name: string, rule: NameRule, prefix: boolean): string[] {
  if (rule === "path-segment") return isPathSegment(name, prefix);
  // A generated suffix follows, so that a prefix may end in a dash.
  const checked = prefix && name.endsWith("-") ? `${name.slice(0, -1)}a` : name;
  return rule === "dns-label" ? isDns1123Label(checked) : isDns1123Subdomain(checked);
}

/** Checks the metadata of a new object; `name` must have been generated already. */
export function validateObjectMeta(meta: ObjectMeta, rules: ObjectMetaRules): FieldError[] {
  const { nameRule = "dns-subdomain", fieldPath = "metadata" } = rules;
  const errors: FieldError[] = [];
  const { generateName = "", name = "", namespace = "" } = meta;
  for (const text of generateName === "" ? [] : nameErrors(generateName, nameRule, true)) {
    errors.push(invalidValue(`${fieldPath}.generateName`, generateName, text));
  }
  if (name === "") errors.push(required(`${fieldPath}.name`, "name or generateName is required"));
  else for (const text of nameErrors(name, nameRule, false)) errors.push(invalidValue(`${fieldPath}.name`, name, text));
  if (!rules.namespaced) {
    if (namespace !== "") errors.push(forbiddenField(`${fieldPath}.namespace`, "not allowed on this type"));
  } else if (namespace === "") errors.push(required(`${fieldPath}.namespace`));
  else
    for (const text of isDns1123Label(namespace)) errors.push(invalidValue(`${fieldPath}.namespace`, namespace, text));
  if ((meta.generation ?? 0) < 0) {
    errors.push(invalidValue(`${fieldPath}.generation`, meta.generation, "must be greater than or equal to 0"));
  }
  errors.push(...validateLabels(meta.labels, `${fieldPath}.labels`));
  errors.push(...validateAnnotations(meta.annotations, `${fieldPath}.annotations`));
  errors.push(...validateOwnerReferences(meta.ownerReferences, `${fieldPath}.ownerReferences`));
  errors.push(...validateFinalizers(meta.finalizers, `${fieldPath}.finalizers`));
  errors.push(...validateManagedFields(meta, `${fieldPath}.managedFields`));
  return errors;
}

/** Checks metadata against the stored one: what may not change, and what may not be added while deleting. */
export function validateObjectMetaUpdate(meta: ObjectMeta, old: ObjectMeta, fieldPath = "metadata"): FieldError[] {
  const errors: FieldError[] = [];
  if (old.deletionTimestamp !== undefined) {
    const known = new Set(old.finalizers);
    const added = [...new Set(meta.finalizers)].filter((f) => !known.has(f)).sort();
    if (added.length > 0) {
      const list = `[]string{${added.map(goQuote).join(", ")}}`;
      const detail = `no new finalizers can be added if the object is being deleted, found new finalizers ${list}`;
      errors.push(forbiddenField(`${fieldPath}.finalizers`, detail));
    }
  }
  if ((meta.resourceVersion ?? "") === "") {
    errors.push(invalidValue(`${fieldPath}.resourceVersion`, "", "must be specified for an update"));
  }
  if ((meta.generation ?? 0) < (old.generation ?? 0)) {
    errors.push(invalidValue(`${fieldPath}.generation`, meta.generation ?? 0, "must not be decremented"));
  }
  for (const field of IMMUTABLE) {
    if (deepEqual(meta[field], old[field])) continue;
    errors.push(
      invalidValue(`${fieldPath}.${field}`, meta[field] ?? (STRINGS.has(field) ? "" : null), "field is immutable"),
    );
  }
  errors.push(...validateLabels(meta.labels, `${fieldPath}.labels`));
  errors.push(...validateAnnotations(meta.annotations, `${fieldPath}.annotations`));
  errors.push(...validateOwnerReferences(meta.ownerReferences, `${fieldPath}.ownerReferences`));
  errors.push(...validateManagedFields(meta, `${fieldPath}.managedFields`));
  return errors;
}

/** Whether all that the server does not set itself is the very value it was: it was checked when it was stored. */
export function sameObjectMeta(meta: ObjectMeta, old: ObjectMeta): boolean {
  return CHECKED.every((field) => meta[field] === old[field]);
}

const CHECKED = [
  "name",
  "generateName",
  "namespace",
  "uid",
  "labels",
  "annotations",
  "ownerReferences",
  "finalizers",
  "generation",
  "creationTimestamp",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
] as const;

const IMMUTABLE = [
  "name",
  "namespace",
  "uid",
  "creationTimestamp",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
] as const;
const STRINGS: ReadonlySet<string> = new Set(["name", "namespace", "uid"]);

const MAX_ERRORS = 1000;

/** Checks label keys and values. */
export function validateLabels(labels: Record<string, string> | undefined, field: string): FieldError[] {
  const errors: FieldError[] = [];
  for (const [key, value] of Object.entries(labels ?? {})) {
    // Further problems are left out.
    if (errors.length >= MAX_ERRORS) break;
    for (const text of isQualifiedName(key)) errors.push(invalidValue(field, key, text));
    if (typeof value !== "string") errors.push(invalidValue(field, value, "must be a string"));
    else for (const text of isLabelValue(value)) errors.push(invalidValue(field, value, text));
  }
  return errors;
}

/** Problems of annotations: their keys and their total size. */
export function validateAnnotations(annotations: Record<string, string> | undefined, field: string): FieldError[] {
  const errors: FieldError[] = [];
  let size = 0;
  for (const [key, value] of Object.entries(annotations ?? {})) {
    for (const text of isQualifiedName(key.toLowerCase())) errors.push(invalidValue(field, key, text));
    if (typeof value !== "string") errors.push(invalidValue(field, value, "must be a string"));
    else size += Buffer.byteLength(key) + Buffer.byteLength(value);
  }
  if (size > MAX_ANNOTATION_BYTES) errors.push(tooLong(field, MAX_ANNOTATION_BYTES));
  return errors;
}

function validateOwnerReferences(references: readonly OwnerReference[] | undefined, field: string): FieldError[] {
  const errors: FieldError[] = [];
  let controller = "";
  for (const [index, ref] of (references ?? []).entries()) {
    const at = `${field}[${index}]`;
    const { apiVersion = "", kind = "", name = "", uid = "" }: Partial<OwnerReference> = isObject(ref) ? ref : {};
    if (apiVersion === "") errors.push(required(`${at}.apiVersion`, "must not be empty"));
    else if (versionOf(apiVersion) === "")
      errors.push(invalidValue(`${at}.apiVersion`, apiVersion, "must be <group>/<version> or <version>"));
    if (kind === "") errors.push(required(`${at}.kind`, "must not be empty"));
    if (name === "") errors.push(required(`${at}.name`, "must not be empty"));
    if (uid === "") errors.push(required(`${at}.uid`, "must not be empty"));
    if (apiVersion === "v1" && kind === "Event") {
      errors.push(invalidValue(at, ref, "/v1, Kind=Event is disallowed from being an owner"));
    }
    if (ref?.controller !== true) continue;
    const current = `${kind}/${name}`;
    if (controller === "") controller = current;
    else {
      const detail = `Only one reference can have Controller set to true. Found "true" in references for ${controller} and ${current}`;
      errors.push(invalidValue(field, references, detail));
    }
  }
  return errors;
}

function versionOf(apiVersion: string): string {
  try {
    return parseGroupVersion(apiVersion).version;
  } catch {
    return "";
  }
}

function validateFinalizers(finalizers: readonly string[] | undefined, field: string): FieldError[] {
  const errors: FieldError[] = [];
  for (const name of finalizers ?? [])
    for (const text of isQualifiedName(String(name))) errors.push(invalidValue(field, name, text));
  if (finalizers?.includes("orphan") === true && finalizers.includes("foregroundDeletion")) {
    errors.push(invalidValue(field, finalizers, "finalizer orphan and foregroundDeletion cannot be both set"));
  }
  return errors;
}

/** Checks a field manager's name: at most 128 printable characters. */
export function validateFieldManager(manager: string, field: string): FieldError[] {
  if (goodManagers.has(manager)) return [];
  const errors: FieldError[] = [];
  if (Buffer.byteLength(manager) > MAX_MANAGER_BYTES) return [tooLong(field, MAX_MANAGER_BYTES)];
  for (const match of manager.matchAll(/[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu)) {
    const code = (match[0].codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
    errors.push(invalidValue(field, manager, `invalid character U+${code} (at position ${match.index})`));
  }
  if (errors.length === 0) {
    if (goodManagers.size >= MAX_GOOD_MANAGERS) goodManagers.clear();
    goodManagers.add(manager);
  }
  return errors;
}

/** Few names write nearly everything, and each write checks all of them. */
const goodManagers = new Set<string>();
const MAX_GOOD_MANAGERS = 1000;

function validateManagedFields(meta: ObjectMeta, field: string): FieldError[] {
  const errors: FieldError[] = [];
  for (const [i, entry] of (meta.managedFields ?? []).entries()) {
    const path = `${field}[${i}]`;
    if (entry.operation !== "Apply" && entry.operation !== "Update") {
      errors.push(invalidValue(`${path}.operation`, entry.operation ?? "", "must be `Apply` or `Update`"));
    }
    if (entry.fieldsType !== undefined && entry.fieldsType !== "FieldsV1") {
      errors.push(invalidValue(`${path}.fieldsType`, entry.fieldsType, "must be `FieldsV1`"));
    }
    errors.push(...validateFieldManager(entry.manager ?? "", `${path}.manager`));
    if (Buffer.byteLength(entry.subresource ?? "") > MAX_SUBRESOURCE_BYTES) {
      errors.push(tooLong(`${path}.subresource`, MAX_SUBRESOURCE_BYTES));
    }
  }
  return errors;
}
