import { badRequest } from "../errors.ts";
import { isObject, type JsonObject, MAX_DEPTH, tooDeep } from "../json.ts";
import { type ApplyType, DEDUCED, type ListType, type MapType } from "./apply-type.ts";
import { type FieldSet, LEAF, makeNode } from "./field-set.ts";
import { fieldElement, itemElement, type PathElement, printElement } from "./path-element.ts";

/** Whether a value is looked into field by field. */
export function granularMap(type: ApplyType, value: unknown): value is JsonObject {
  return type.map !== undefined && !type.map.atomic && isObject(value);
}

/** Whether a value is looked into item by item. */
export function granularList(type: ApplyType, value: unknown): value is unknown[] {
  return type.list !== undefined && !type.list.atomic && Array.isArray(value);
}

/** The type of a field, whether or not the schema names it. */
export function fieldType(map: MapType, name: string): ApplyType {
  return map.field(name) ?? map.element ?? DEDUCED;
}

/** Items of a list by path element, in order of first appearance; items that have none are left out. */
export function indexItems(list: ListType, items: readonly unknown[]): Map<PathElement, unknown[]> {
  const index = new Map<PathElement, unknown[]>();
  for (const item of items) {
    const element = itemElement(list, item);
    if (typeof element !== "string") continue;
    const same = index.get(element);
    if (same === undefined) index.set(element, [item]);
    else same.push(item);
  }
  return index;
}

/** What comes to be when a value appears where nothing was: the value itself and everything in it. */
export function allFields(type: ApplyType, value: unknown, depth = 0): FieldSet {
  if (typeof value !== "object" || value === null) return LEAF;
  if (depth > MAX_DEPTH) throw tooDeep();
  if (Array.isArray(value)) {
    const list = type.list;
    if (list === undefined || list.atomic || value.length === 0) return LEAF;
    return allItems(list, value, depth);
  }
  const map = type.map;
  if (map === undefined || map.atomic) return LEAF;
  const object = value as JsonObject;
  const keys = Object.keys(object);
  if (keys.length === 0) return LEAF;
  if (keys.length > 1) keys.sort();
  const out: Record<PathElement, FieldSet> = { ".": LEAF };
  for (const key of keys) {
    const item = object[key];
    if (item === undefined) continue;
    out[fieldElement(key)] =
      typeof item === "object" && item !== null ? allFields(fieldType(map, key), item, depth + 1) : LEAF;
  }
  return out;
}

function allItems(list: ListType, items: readonly unknown[], depth: number): FieldSet {
  const nodes = new Map<PathElement, FieldSet>();
  for (const item of items) {
    const element = itemElement(list, item);
    if (typeof element !== "string") continue;
    // Duplicates cannot be distinguished: they are owned as one.
    nodes.set(element, nodes.has(element) ? LEAF : allFields(list.item, item, depth + 1));
  }
  const out: Record<PathElement, FieldSet> = { ".": LEAF };
  for (const element of [...nodes.keys()].sort()) out[element] = nodes.get(element) ?? LEAF;
  return out;
}

/** The fields an applied object states. */
export interface StatedFields {
  /** As an applier owns them: leaves, list items and map keys, but not the containers it passes through. */
  readonly owned: FieldSet;
  /**
   * The same with empty sets and map lists as leaves. Upstream gives those no owner in an apply, but pruning must know that
   * they are there: else a struct that holds nothing else would go together with them.
   */
  readonly present: FieldSet;
}

/** What an applied object states, in one walk as long as it has no empty lists. */
export function statedFields(type: ApplyType, value: unknown): StatedFields {
  const look: Look = { emptyLists: false, met: false };
  const owned = stated(type, value, look, 0) ?? LEAF;
  return { owned, present: look.met ? presentFields(type, value) : owned };
}

/** The fields of an object, empty sets and map lists included. */
export function presentFields(type: ApplyType, value: unknown): FieldSet {
  return stated(type, value, { emptyLists: true, met: false }, 0) ?? LEAF;
}

interface Look {
  /** Whether empty lists count. */
  readonly emptyLists: boolean;
  /** Whether there was one. */
  met: boolean;
}

function stated(type: ApplyType, value: unknown, look: Look, depth: number): FieldSet | undefined {
  if (depth > MAX_DEPTH) throw tooDeep();
  if (granularMap(type, value) && type.map !== undefined) {
    const out: Record<PathElement, FieldSet> = {};
    for (const key of Object.keys(value)) {
      const item = value[key];
      if (item === undefined) continue;
      const declared = type.map.field(key);
      const node =
        typeof item === "object" && item !== null
          ? stated(declared ?? type.map.element ?? DEDUCED, item, look, depth + 1)
          : LEAF;
      const empty = item === null || (isObject(item) && Object.keys(item).length === 0);
      const own = empty || declared === undefined ? withSelf(node) : node;
      if (own !== undefined) out[fieldElement(key)] = own;
    }
    return makeNode(false, out);
  }
  if (granularList(type, value) && type.list !== undefined) {
    if (value.length === 0) {
      look.met = true;
      return look.emptyLists ? LEAF : undefined;
    }
    const out: Record<PathElement, FieldSet> = {};
    for (const [element, items] of indexItems(type.list, value)) {
      out[element] = items.length > 1 ? LEAF : withSelf(stated(type.list.item, items[0], look, depth + 1));
    }
    return makeNode(false, out);
  }
  return LEAF;
}

function withSelf(node: FieldSet | undefined): FieldSet {
  if (node === undefined) return LEAF;
  return node === LEAF || node["."] !== undefined ? node : { ".": LEAF, ...node };
}

/** Refuses an applied object whose lists have duplicates or items without keys, or whose parts do not fit the schema. */
export function checkApplied(type: ApplyType, value: unknown, describe: string): void {
  check(type, value, (path, problem) => {
    throw badRequest(
      `failed to create typed patch object (${describe}): ${path.map(printElement).join("")}: ${problem}`,
    );
  });
}

function check(type: ApplyType, value: unknown, fail: (path: PathElement[], problem: string) => never): void {
  const path: PathElement[] = [];
  const visit = (t: ApplyType, v: unknown): void => {
    if (path.length > MAX_DEPTH) throw tooDeep();
    if (v === null || v === undefined) return;
    if (Array.isArray(v)) {
      if (t.list === undefined) fail(path, `expected ${t.map === undefined ? "a scalar" : "map"}, got a list`);
      if (!t.list.atomic) visitItems(t.list, v);
      return;
    }
    if (typeof v === "object") {
      if (t.map === undefined) fail(path, `expected ${t.list === undefined ? "a scalar" : "list"}, got a map`);
      visitFields(t.map, v as JsonObject);
      return;
    }
    if (t.scalar === undefined) fail(path, `expected ${t.map === undefined ? "list" : "map"}, got ${typeof v}`);
    if (t.scalar === "numeric" && typeof v !== "number") fail(path, `expected numeric (int or float), got ${typeof v}`);
    if (t.scalar === "boolean" && typeof v !== "boolean") fail(path, `expected boolean, got ${typeof v}`);
  };
  const visitFields = (map: MapType, object: JsonObject): void => {
    for (const key of Object.keys(object)) {
      path.push(fieldElement(key));
      const field = map.field(key) ?? map.element;
      if (field === undefined) fail(path, "field not declared in schema");
      visit(field, object[key]);
      path.pop();
    }
  };
  const visitItems = (list: ListType, items: readonly unknown[]): void => {
    const seen = new Set<PathElement>();
    for (const [i, item] of items.entries()) {
      const element = itemElement(list, item);
      if (typeof element !== "string") fail(path, `element ${i}: ${element.problem}`);
      if (seen.has(element)) fail(path, `duplicate entries for key ${printElement(element)}`);
      seen.add(element);
      path.push(element);
      visit(list.item, item);
      path.pop();
    }
  };
  visit(type, value);
}
