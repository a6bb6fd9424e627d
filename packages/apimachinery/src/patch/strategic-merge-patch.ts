import { OBJECT_META_SCHEMA } from "../apply/object-meta-schema.ts";
import { badRequest } from "../errors.ts";
import { goKind, goType, goValue } from "../go-text.ts";
import { deepCopy, isObject, type JsonObject, MAX_DEPTH, setOwn, stableStringify, tooDeep } from "../json.ts";
import type { JSONSchemaProps } from "../schema/types.ts";
import { checkOrder, mergeKeyedLists, mergePrimitiveLists, orderItems } from "./strategic-lists.ts";

const DELETE_FROM = "$deleteFromPrimitiveList/";
const SET_ORDER = "$setElementOrder/";
const RETAIN = "$retainKeys";
const DIRECTIVE = "$patch";

/** Kubernetes' strategic merge patch for built-in types: as a merge patch, but lists join where the schema says so. */
export function applyStrategicMergePatch(doc: unknown, patch: unknown, schema: JSONSchemaProps): unknown {
  if (!isObject(patch)) {
    throw badRequest(`json: cannot unmarshal ${goKind(patch)} into Go value of type map[string]interface {}`);
  }
  const root: JSONSchemaProps = { ...schema, properties: { ...schema.properties, metadata: OBJECT_META_SCHEMA } };
  return mergeMap(isObject(doc) ? deepCopy(doc) : {}, patch, root, 0);
}

/** Merges into `original`, which is changed and returned. */
function mergeMap(
  original: JsonObject,
  patch: JsonObject,
  schema: JSONSchemaProps | undefined,
  depth: number,
): JsonObject {
  if (depth > MAX_DEPTH) throw tooDeep();
  if (Object.hasOwn(patch, DIRECTIVE)) {
    if (patch[DIRECTIVE] === "replace") return withoutDirectives(patch, depth) as JsonObject;
    if (patch[DIRECTIVE] === "delete") return {};
    throw badRequest(`unknown patch type: ${String(patch[DIRECTIVE])} in map: ${goValue(patch)}`);
  }
  if (Object.hasOwn(patch, RETAIN)) retainKeys(original, patch);
  for (const key of Object.keys(patch)) {
    if (key.startsWith(SET_ORDER)) checkSetOrder(original, key.slice(SET_ORDER.length), patch, schema);
  }
  const before = new Map(Object.entries(original).filter(([key]) => Object.hasOwn(patch, SET_ORDER + key)));
  for (const key of Object.keys(patch)) {
    if (key === RETAIN || key.startsWith(SET_ORDER)) continue;
    if (key.startsWith(DELETE_FROM)) deleteFromList(original, key.slice(DELETE_FROM.length), patch[key]);
    else mergeField(original, key, patch[key], fieldSchema(schema, key), depth);
  }
  for (const key of Object.keys(patch)) {
    if (key.startsWith(SET_ORDER)) setOrder(original, key.slice(SET_ORDER.length), patch, before, schema);
  }
  return original;
}

function mergeField(
  original: JsonObject,
  key: string,
  value: unknown,
  schema: JSONSchemaProps | undefined,
  depth: number,
): void {
  const old = Object.hasOwn(original, key) ? original[key] : undefined;
  const strategies = strategiesOf(schema);
  if (value === null || value === undefined) delete original[key];
  else if (isObject(value) && isObject(old) && !strategies.includes("replace")) {
    setOwn(original, key, mergeMap(old, value, schema, depth + 1));
  } else if (Array.isArray(value) && Array.isArray(old) && strategies.includes("merge")) {
    setOwn(original, key, mergeList(old, value, schema, depth));
  } else if (isObject(value) && value[DIRECTIVE] === "delete") delete original[key];
  else setOwn(original, key, withoutDirectives(value, depth));
}

function mergeList(old: unknown[], value: unknown[], schema: JSONSchemaProps | undefined, depth: number): unknown[] {
  const mergeKey = schema?.["x-kubernetes-patch-merge-key"];
  const maps = [...old, ...value].some(isObject);
  if (!maps) return mergePrimitiveLists(old, value);
  if (mergeKey === undefined) throw badRequest("cannot merge lists without merge key");
  return mergeKeyedLists(old, value, mergeKey, (left, right) =>
    left === undefined
      ? (withoutDirectives(right, depth) as JsonObject)
      : mergeMap(left, right, schema?.items, depth + 1),
  );
}

function fieldSchema(schema: JSONSchemaProps | undefined, key: string): JSONSchemaProps | undefined {
  const fields = schema?.properties;
  if (fields !== undefined && Object.hasOwn(fields, key)) return fields[key];
  return isObject(schema?.additionalProperties) ? schema.additionalProperties : undefined;
}

function strategiesOf(schema: JSONSchemaProps | undefined): string[] {
  return (schema?.["x-kubernetes-patch-strategy"] ?? "").split(",");
}

/** `$retainKeys` lists the only fields that stay; the patch may not set others. */
function retainKeys(original: JsonObject, patch: JsonObject): void {
  const keys = patch[RETAIN];
  if (!Array.isArray(keys)) throw badRequest("invalid patch format of retainKeys");
  const retained = new Set<unknown>(keys);
  for (const key of Object.keys(patch)) {
    const directive = key === RETAIN || key.startsWith(SET_ORDER) || key.startsWith(DELETE_FROM);
    if (patch[key] === null || directive || retained.has(key)) continue;
    throw badRequest("invalid patch format of retainKeys");
  }
  for (const key of Object.keys(original)) if (!retained.has(key)) delete original[key];
}

/** Takes values out of a list, also out of one that does not merge; what is no list is left alone, as upstream does. */
function deleteFromList(original: JsonObject, key: string, gone: unknown): void {
  if (gone === null) delete original[key];
  const list = Object.hasOwn(original, key) ? original[key] : undefined;
  if (!Array.isArray(list) || !Array.isArray(gone)) return;
  const deleted = new Set(gone.map(stableStringify));
  const kept = list.filter((v) => !deleted.has(stableStringify(v)));
  setOwn(original, key, kept);
}

/** Nothing is changed unless the order, the list and what the patch has for it fit together. */
function checkSetOrder(
  original: JsonObject,
  key: string,
  patch: JsonObject,
  schema: JSONSchemaProps | undefined,
): void {
  const wanted = patch[SET_ORDER + key];
  for (const value of [wanted, ...[original, patch].flatMap((map) => (Object.hasOwn(map, key) ? [map[key]] : []))])
    if (!Array.isArray(value)) throw badRequest(`expected a []interface {}, but received a ${goType(value)}`);
  if (!Array.isArray(wanted)) return;
  const mergeKey = fieldSchema(schema, key)?.["x-kubernetes-patch-merge-key"];
  const items = Object.hasOwn(patch, key) ? patch[key] : undefined;
  if (Array.isArray(items)) checkOrder(items, wanted, mergeKey, SET_ORDER.slice(0, -1));
}

/** `$setElementOrder/x` gives the order in which the client wants the items of list `x`. */
function setOrder(
  original: JsonObject,
  key: string,
  patch: JsonObject,
  before: ReadonlyMap<string, unknown>,
  schema: JSONSchemaProps | undefined,
): void {
  const wanted = patch[SET_ORDER + key];
  const list = Object.hasOwn(original, key) ? original[key] : undefined;
  if (!Array.isArray(list) || !Array.isArray(wanted)) return;
  const server = before.get(key);
  const mergeKey = fieldSchema(schema, key)?.["x-kubernetes-patch-merge-key"];
  setOwn(original, key, orderItems(list, wanted, Array.isArray(server) ? server : [], mergeKey));
}

/** A value that had nothing to merge with: directives and nulls mean nothing in it. */
function withoutDirectives(value: unknown, depth: number): unknown {
  if (depth > MAX_DEPTH) throw tooDeep();
  if (Array.isArray(value)) {
    return value
      .filter((v) => !(isObject(v) && Object.hasOwn(v, DIRECTIVE)))
      .map((v) => withoutDirectives(v, depth + 1));
  }
  if (!isObject(value)) return value;
  const out: JsonObject = {};
  for (const key of Object.keys(value)) {
    const directive = key === DIRECTIVE || key === RETAIN || key.startsWith(SET_ORDER) || key.startsWith(DELETE_FROM);
    const item = value[key];
    if (directive || item === null || (isObject(item) && item[DIRECTIVE] === "delete")) continue;
    setOwn(out, key, withoutDirectives(item, depth + 1));
  }
  return out;
}
