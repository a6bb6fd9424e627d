import { badRequest, requestEntityTooLarge, unprocessablePatch } from "../errors.ts";
import { goKind, goQuote } from "../go-text.ts";
import { deepCopy, deepEqual, isObject, type JsonObject, setOwn } from "../json.ts";

/** More operations in one patch are refused, as upstream does. */
const MAX_OPERATIONS = 10_000;
/** Bound on values that are copied, compared or shifted in one patch: doubling copies fill no memory, nothing blocks for long. */
const MAX_WORK = 300_000;

interface Operation {
  readonly op: string;
  readonly path: string;
  readonly from: string;
  readonly value: unknown;
}

/**
 * RFC 6902, with the leniency of upstream's library: negative indices count from the end, replacing a missing object field
 * adds it, a missing value is null. Throws 400 for malformed patches and 422 for patches that cannot be carried out.
 */
export function applyJsonPatch(doc: unknown, operations: unknown): unknown {
  const state: State = { root: deepCopy(doc), work: 0 };
  for (const operation of decode(operations)) apply(state, operation);
  return state.root;
}

interface State {
  root: unknown;
  work: number;
}

function charge(state: State, pointer: string, values: number): void {
  state.work += values;
  if (state.work > MAX_WORK) throw unprocessablePatch(pointer, "the patch is too much work for one request: split it");
}

function decode(operations: unknown): Operation[] {
  const expected = "error decoding patch: json: cannot unmarshal";
  if (!Array.isArray(operations)) {
    throw badRequest(`${expected} ${goKind(operations)} into Go value of type []handlers.jsonPatchOp`);
  }
  if (operations.length > MAX_OPERATIONS) {
    throw requestEntityTooLarge(
      `The allowed maximum operations in a JSON patch is ${MAX_OPERATIONS}, got ${operations.length}`,
    );
  }
  return operations.map((operation: unknown) => {
    if (!isObject(operation)) {
      throw badRequest(`${expected} ${goKind(operation)} into Go value of type handlers.jsonPatchOp`);
    }
    const { op, path, from = "", value = null } = operation;
    if (typeof op !== "string") throw unprocessablePatch("op", 'every operation needs an "op" such as "replace"');
    if (typeof path !== "string")
      throw unprocessablePatch("path", `operation ${goQuote(op)} needs a "path" such as "/spec/x"`);
    if (typeof from !== "string") throw unprocessablePatch("from", '"from" must be a string');
    return { op, path, from, value };
  });
}

function apply(state: State, { op, path, from, value }: Operation): void {
  switch (op) {
    case "add":
      return write(state, path, deepCopy(value), true);
    case "replace":
      return write(state, path, deepCopy(value), false);
    case "remove":
      remove(state, path);
      return;
    case "move":
      return write(state, path, remove(state, from), true);
    case "copy": {
      const source = read(state, from);
      charge(state, path, countValues(source));
      return write(state, path, deepCopy(source), true);
    }
    case "test": {
      const current = read(state, path);
      charge(state, path, countValues(current));
      if (deepEqual(current, value)) return;
      throw unprocessablePatch(path, "testing value failed: the field holds something else");
    }
    default:
      throw unprocessablePatch("op", `unexpected kind ${goQuote(op)}: use add, remove, replace, move, copy or test`);
  }
}

function countValues(value: unknown): number {
  if (typeof value !== "object" || value === null) return 1;
  let count = 1;
  for (const item of Object.values(value)) count += countValues(item);
  return count;
}

function segments(pointer: string): string[] {
  if (pointer === "") return [];
  if (!pointer.startsWith("/")) throw unprocessablePatch(pointer, "a path must be empty or begin with a slash");
  return pointer
    .slice(1)
    .split("/")
    .map((s) => s.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** The container a path's last segment lies in. */
function locate(state: State, pointer: string): { parent: unknown[] | JsonObject; key: string } {
  const path = segments(pointer);
  const key = path.pop();
  if (key === undefined) throw unprocessablePatch(pointer, "the whole document cannot be addressed here");
  let parent: unknown = state.root;
  for (const segment of path) {
    if (Array.isArray(parent)) parent = parent[arrayIndex(pointer, segment, parent.length - 1)];
    else if (isObject(parent) && Object.hasOwn(parent, segment)) parent = parent[segment];
    else parent = undefined;
  }
  if (Array.isArray(parent) || isObject(parent)) return { parent, key };
  throw unprocessablePatch(pointer, "the path does not exist");
}

function arrayIndex(pointer: string, segment: string, max: number): number {
  if (!/^-?(0|[1-9]\d{0,8})$/.test(segment)) throw unprocessablePatch(pointer, `${goQuote(segment)} is no list index`);
  const given = Number(segment);
  const index = given < 0 ? given + max + 1 : given;
  if (index < 0 || index > max) throw unprocessablePatch(pointer, `the list has no index ${given}`);
  return index;
}

function read(state: State, pointer: string): unknown {
  if (pointer === "") return state.root;
  const { parent, key } = locate(state, pointer);
  if (Array.isArray(parent)) return parent[arrayIndex(pointer, key, parent.length - 1)];
  return Object.hasOwn(parent, key) ? parent[key] : null;
}

function write(state: State, pointer: string, value: unknown, insert: boolean): void {
  if (pointer === "") {
    state.root = value;
    return;
  }
  const { parent, key } = locate(state, pointer);
  if (!Array.isArray(parent)) return setOwn(parent, key, value);
  if (insert) charge(state, pointer, parent.length);
  if (!insert) parent[arrayIndex(pointer, key, parent.length - 1)] = value;
  else if (key === "-") parent.push(value);
  else parent.splice(arrayIndex(pointer, key, parent.length), 0, value);
}

function remove(state: State, pointer: string): unknown {
  const { parent, key } = locate(state, pointer);
  if (Array.isArray(parent)) {
    charge(state, pointer, parent.length);
    return parent.splice(arrayIndex(pointer, key, parent.length - 1), 1)[0];
  }
  if (!Object.hasOwn(parent, key)) throw unprocessablePatch(pointer, "the field to remove does not exist");
  const value = parent[key];
  delete parent[key];
  return value;
}
