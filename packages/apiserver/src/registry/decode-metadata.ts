import { badRequest, isObject, type ObjectMeta } from "@capstan/apimachinery";

/** What decoding collects besides the value: names of fields that the type does not have. */
export interface DecodeContext {
  readonly kind: string;
  readonly version: string;
  readonly unknown: string[];
  readonly custom: boolean;
}

/** Go names the innermost struct; custom resources have their metadata decoded by itself, without its path. */
function goField(path: string, context: DecodeContext): string {
  if (!path.startsWith("metadata.")) return `${context.kind}.${path}`;
  return context.custom ? `ObjectMeta.${path.slice(9)}` : `ObjectMeta.${path}`;
}

type Check = (value: unknown, path: string, context: DecodeContext) => unknown;

/** The 400 of a JSON value that does not fit its Go type. */
export function cannotUnmarshal(value: unknown, path: string, goType: string, context: DecodeContext): Error {
  const what = Array.isArray(value)
    ? "array"
    : value === null
      ? "null"
      : typeof value === "boolean"
        ? "bool"
        : typeof value;
  return badRequest(
    `${context.kind} in version "${context.version}" cannot be handled as a ${context.kind}: json: cannot unmarshal ${what} into Go struct field ${goField(path, context)} of type ${goType}`,
  );
}

const text: Check = (value, path, context) => {
  if (typeof value !== "string") throw cannotUnmarshal(value, path, "string", context);
  return value === "" ? undefined : value;
};

const int64: Check = (value, path, context) => {
  if (typeof value !== "number" || !Number.isInteger(value)) throw cannotUnmarshal(value, path, "int64", context);
  return value;
};

const bool: Check = (value, path, context) => {
  if (typeof value !== "boolean") throw cannotUnmarshal(value, path, "bool", context);
  return value;
};

const RFC3339 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/;

const time: Check = (value, path, context) => {
  if (typeof value !== "string") throw cannotUnmarshal(value, path, "v1.Time", context);
  if (!RFC3339.test(value) || Number.isNaN(Date.parse(value))) {
    throw badRequest(
      `${context.kind} in version "${context.version}" cannot be handled as a ${context.kind}: parsing time ${JSON.stringify(value)} in ${path}: write it as in 2006-01-02T15:04:05Z`,
    );
  }
  return value;
};

const stringMap: Check = (value, path, context) => {
  if (!isObject(value)) throw cannotUnmarshal(value, path, "map[string]string", context);
  let empty = true;
  for (const key of Object.keys(value)) {
    const item = value[key];
    if (item === null) value[key] = "";
    else if (typeof item !== "string") throw cannotUnmarshal(item, path, "string", context);
    empty = false;
  }
  return empty ? undefined : value;
};

const stringList: Check = (value, path, context) => {
  if (!Array.isArray(value)) throw cannotUnmarshal(value, path, "[]string", context);
  for (const item of value) if (typeof item !== "string") throw cannotUnmarshal(item, path, "string", context);
  return value.length === 0 ? undefined : value;
};

function struct(fields: Readonly<Record<string, Check>>): Check {
  return (value, path, context) => {
    if (!isObject(value)) throw cannotUnmarshal(value, path, "struct", context);
    decodeFields(value, path, fields, context);
    return value;
  };
}

function listOf(check: Check): Check {
  return (value, path, context) => {
    if (!Array.isArray(value)) throw cannotUnmarshal(value, path, "slice", context);
    value.forEach((item, i) => check(item, `${path}[${i}]`, context));
    return value;
  };
}

function nonEmpty(check: Check): Check {
  return (value, path, context) => {
    const list = check(value, path, context);
    return Array.isArray(list) && list.length === 0 ? undefined : list;
  };
}

const anyObject: Check = (value, path, context) => {
  if (!isObject(value)) throw cannotUnmarshal(value, path, "v1.FieldsV1", context);
  return value;
};

const required =
  (check: Check): Check =>
  (value, path, context) =>
    check(value, path, context) ?? "";

const OWNER_REFERENCE = struct({
  apiVersion: required(text),
  kind: required(text),
  name: required(text),
  uid: required(text),
  controller: bool,
  blockOwnerDeletion: bool,
});

const MANAGED_FIELDS = struct({
  manager: text,
  operation: text,
  apiVersion: text,
  time,
  fieldsType: text,
  fieldsV1: anyObject,
  subresource: text,
});

const OBJECT_META: Readonly<Record<string, Check>> = {
  name: text,
  generateName: text,
  namespace: text,
  selfLink: text,
  uid: text,
  resourceVersion: text,
  generation: int64,
  creationTimestamp: time,
  deletionTimestamp: time,
  deletionGracePeriodSeconds: int64,
  labels: stringMap,
  annotations: stringMap,
  ownerReferences: nonEmpty(listOf(OWNER_REFERENCE)),
  finalizers: stringList,
  // An empty list resets field ownership, so it must survive decoding.
  managedFields: listOf(MANAGED_FIELDS),
};

/** Decodes `metadata` in place as Go's ObjectMeta would: unknown names dropped and noted, null and empty values gone, wrong types 400. */
export function decodeMetadata(value: unknown, context: DecodeContext): ObjectMeta {
  if (value === undefined || value === null) return {};
  if (!isObject(value)) throw cannotUnmarshal(value, "metadata", "v1.ObjectMeta", context);
  decodeFields(value, "metadata", OBJECT_META, context);
  return value as ObjectMeta;
}

function decodeFields(
  value: Record<string, unknown>,
  path: string,
  fields: Readonly<Record<string, Check>>,
  context: DecodeContext,
): void {
  for (const key of Object.keys(value)) {
    const check = Object.hasOwn(fields, key) ? fields[key] : undefined;
    const field = value[key];
    if (check === undefined) {
      context.unknown.push(`${path}.${key}`);
      delete value[key];
    } else if (field === null) {
      delete value[key];
    } else {
      const decoded = check(field, `${path}.${key}`, context);
      if (decoded === undefined) delete value[key];
      else value[key] = decoded;
    }
  }
}
