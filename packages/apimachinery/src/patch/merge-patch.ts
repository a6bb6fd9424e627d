import { badRequest } from "../errors.ts";
import { goKind } from "../go-text.ts";
import { deepCopy, deepEqual, isObject, type JsonObject, MAX_DEPTH, setOwn, tooDeep } from "../json.ts";

/** RFC 7396: objects merge, null deletes, everything else replaces. The input is not changed. The patch must be an object. */
export function applyMergePatch(doc: unknown, patch: unknown): unknown {
  if (!isObject(patch))
    throw badRequest(
      `error decoding patch: json: cannot unmarshal ${goKind(patch)} into Go value of type map[string]interface {}`,
    );
  return merge(doc, patch, 0);
}

function merge(doc: unknown, patch: unknown, depth: number): unknown {
  if (!isObject(patch)) return deepCopy(patch);
  if (depth > MAX_DEPTH) throw tooDeep();
  const out: JsonObject = {};
  if (isObject(doc)) {
    for (const key of Object.keys(doc)) if (!Object.hasOwn(patch, key)) setOwn(out, key, deepCopy(doc[key]));
  }
  for (const key of Object.keys(patch)) {
    const value = patch[key];
    if (value === null || value === undefined) continue;
    const old = isObject(doc) && Object.hasOwn(doc, key) ? doc[key] : undefined;
    setOwn(out, key, merge(old, value, depth + 1));
  }
  return out;
}

/** The merge patch that turns `from` into `to`, undefined when they are equal. Nulls in `to` cannot be expressed: refused. */
export function createMergePatch(from: unknown, to: unknown): JsonObject | undefined {
  if (!isObject(from) || !isObject(to)) throw badRequest("a merge patch can only be made between two objects");
  const patch = diff(from, to, 0);
  return Object.keys(patch).length === 0 ? undefined : patch;
}

function diff(from: JsonObject, to: JsonObject, depth: number): JsonObject {
  if (depth > MAX_DEPTH) throw tooDeep();
  const patch: JsonObject = {};
  for (const key of Object.keys(from)) {
    if (from[key] !== undefined && (!Object.hasOwn(to, key) || to[key] === undefined)) setOwn(patch, key, null);
  }
  for (const key of Object.keys(to)) {
    const value = to[key];
    const old = Object.hasOwn(from, key) ? from[key] : undefined;
    if (value === undefined || deepEqual(old, value)) continue;
    if (value === null) throw badRequest(`a merge patch cannot set ${JSON.stringify(key)} to null: null deletes`);
    if (!isObject(value)) setOwn(patch, key, deepCopy(value));
    // A new object is laid over an empty one, so that nulls inside are found here too.
    else setOwn(patch, key, diff(isObject(old) ? old : {}, value, depth + 1));
  }
  return patch;
}
