import { deepEqual, type JsonObject, MAX_DEPTH, tooDeep } from "../json.ts";
import type { ApplyType, ListType, MapType } from "./apply-type.ts";
import { childrenOf, type FieldSet, LEAF } from "./field-set.ts";
import { allFields, fieldType, granularList, granularMap, indexItems } from "./owned-fields.ts";
import { fieldElement, type PathElement } from "./path-element.ts";

/** What changed between two objects, as sets of fields. */
export interface Comparison {
  readonly added: FieldSet;
  readonly modified: FieldSet;
  readonly removed: FieldSet;
}

interface Diff {
  added?: FieldSet | undefined;
  modified?: FieldSet | undefined;
  removed?: FieldSet | undefined;
}

const NOTHING: Comparison = { added: LEAF, modified: LEAF, removed: LEAF };

/** Compares two objects of one type. Parts that are the same object in memory cost nothing. */
export function compareObjects(type: ApplyType, left: JsonObject, right: JsonObject): Comparison {
  const diff = compare(type, left, right, 0);
  if (diff === undefined) return NOTHING;
  return { added: diff.added ?? LEAF, modified: diff.modified ?? LEAF, removed: diff.removed ?? LEAF };
}

function compare(type: ApplyType, left: unknown, right: unknown, depth: number): Diff | undefined {
  if (left === right) return undefined;
  if (left === undefined) return { added: allFields(type, right, depth) };
  if (right === undefined) return { removed: allFields(type, left, depth) };
  if (depth > MAX_DEPTH) throw tooDeep();
  const { map, list } = type;
  if (map !== undefined && granularMap(type, left) && granularMap(type, right)) {
    return compareMaps(map, left, right, depth);
  }
  if (list !== undefined && granularList(type, left) && granularList(type, right)) {
    return compareLists(list, left, right, depth);
  }
  if (deepEqual(left, right)) return undefined;
  const removed = childrenOf(allFields(type, left, depth));
  const added = childrenOf(allFields(type, right, depth));
  // null stands for an empty container when the other side is a filled one.
  const container = (left === null && added !== undefined) || (right === null && removed !== undefined);
  return { added, removed, modified: container ? undefined : LEAF };
}

function compareMaps(map: MapType, left: JsonObject, right: JsonObject, depth: number): Diff | undefined {
  let out: Out | undefined;
  for (const key of Object.keys(right)) {
    const r = right[key];
    const l = Object.hasOwn(left, key) ? left[key] : undefined;
    if (l === r) continue;
    const diff = compare(fieldType(map, key), l, r, depth + 1);
    if (diff !== undefined) (out ??= new Out()).put(fieldElement(key), diff);
  }
  for (const key of Object.keys(left)) {
    if (left[key] === undefined || Object.hasOwn(right, key)) continue;
    (out ??= new Out()).put(fieldElement(key), { removed: allFields(fieldType(map, key), left[key], depth + 1) });
  }
  return out;
}

function compareLists(list: ListType, left: unknown[], right: unknown[], depth: number): Diff | undefined {
  let out: Out | undefined;
  const lefts = indexItems(list, left);
  const rightItems = indexItems(list, right);
  const put = (element: PathElement, diff: Diff | undefined): void => {
    if (diff !== undefined) (out ??= new Out()).put(element, diff);
  };
  for (const [element, r] of rightItems) {
    const l = lefts.get(element) ?? [];
    if (l.length <= 1 && r.length <= 1) put(element, compare(list.item, l[0], r[0], depth + 1));
    else if (l.length >= 2 && r.length >= 2) put(element, deepEqual(l, r) ? undefined : { modified: LEAF });
    // Becoming a duplicate, or ceasing to be one: what is owned changes from parts to whole, or back.
    else if (l.length >= 2) put(element, { added: allFields(list.item, r[0], depth + 1), removed: LEAF });
    else put(element, { added: LEAF, removed: l.length === 0 ? undefined : allFields(list.item, l[0], depth + 1) });
  }
  for (const [element, l] of lefts) {
    if (rightItems.has(element)) continue;
    put(element, { removed: l.length > 1 ? LEAF : allFields(list.item, l[0], depth + 1) });
  }
  return out;
}

/** Gathers the differences of children under their parent. */
class Out implements Diff {
  added: Record<PathElement, FieldSet> | undefined;
  modified: Record<PathElement, FieldSet> | undefined;
  removed: Record<PathElement, FieldSet> | undefined;

  put(element: PathElement, diff: Diff): void {
    if (diff.added !== undefined) (this.added ??= {})[element] = diff.added;
    if (diff.modified !== undefined) (this.modified ??= {})[element] = diff.modified;
    if (diff.removed !== undefined) (this.removed ??= {})[element] = diff.removed;
  }
}
