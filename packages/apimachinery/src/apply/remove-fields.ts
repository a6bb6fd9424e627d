import { type JsonObject, MAX_DEPTH, setOwn, tooDeep } from "../json.ts";
import type { ApplyType } from "./apply-type.ts";
import { childrenOf, type FieldSet, isMember, LEAF, makeNode } from "./field-set.ts";
import { fieldType, granularList, granularMap } from "./owned-fields.ts";
import { fieldElement, itemElement, type PathElement } from "./path-element.ts";

/**
 * The object without the fields of a set; shares the untouched parts. Containers that lose everything stay as empty ones, or
 * become null: while pruning, upstream uses that null to mark that the container itself was not removed.
 */
export function removeFields(
  type: ApplyType,
  object: JsonObject,
  set: FieldSet,
  emptied: "empty" | "null",
): JsonObject {
  return (remove(type, object, set, emptied === "null", 0) ?? {}) as JsonObject;
}

function remove(type: ApplyType, value: unknown, set: FieldSet, nulls: boolean, depth: number): unknown {
  if (depth > MAX_DEPTH) throw tooDeep();
  if (granularMap(type, value) && type.map !== undefined) {
    const out: JsonObject = {};
    for (const key of Object.keys(value)) {
      const node = set[fieldElement(key)];
      if (node === undefined) setOwn(out, key, value[key]);
      else if (!isMember(node)) setOwn(out, key, remove(fieldType(type.map, key), value[key], node, nulls, depth + 1));
    }
    return nulls && Object.keys(out).length === 0 ? null : out;
  }
  if (granularList(type, value) && type.list !== undefined) {
    const out: unknown[] = [];
    for (const item of value) {
      const element = itemElement(type.list, item);
      const node = typeof element === "string" ? set[element] : undefined;
      if (node === undefined) out.push(item);
      else if (!isMember(node)) out.push(remove(type.list.item, item, node, nulls, depth + 1));
    }
    return nulls && out.length === 0 ? null : out;
  }
  return value;
}

/** The set with every struct field it passes through as a member too: dropping all of a struct's fields drops the struct. */
export function withNamedFields(type: ApplyType | undefined, root: FieldSet, depth = 0): FieldSet {
  if (depth > MAX_DEPTH) throw tooDeep();
  const out: Record<PathElement, FieldSet> = {};
  for (const element of Object.keys(root)) {
    const node = root[element];
    if (node === undefined || element === ".") continue;
    let childType: ApplyType | undefined;
    let named = false;
    if (element.startsWith("f:")) {
      const declared = type?.map?.field(element.slice(2));
      named = declared !== undefined;
      childType = declared ?? type?.map?.element;
    } else if (element.startsWith("k:")) childType = type?.list?.item;
    const children = childrenOf(node);
    const inner = children === undefined ? undefined : withNamedFields(childType, children, depth + 1);
    out[element] = makeNode(named || isMember(node), inner) ?? LEAF;
  }
  return out;
}
