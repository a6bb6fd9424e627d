import { MAX_DEPTH, tooDeep } from "../json.ts";
import { type ApplyType, type CompiledApplySchema, DEDUCED } from "./apply-type.ts";
import { type FieldSet, isEmptySet, LEAF } from "./field-set.ts";
import type { PathElement } from "./path-element.ts";

/** Adapts a set to a schema in which something has become atomic since: who owned a part now owns the whole. */
export function reconcileSet(schema: CompiledApplySchema, set: FieldSet): FieldSet {
  if (schema.reconciled.has(set)) return set;
  const out = reconcile(schema.root, set, 0);
  schema.reconciled.add(out);
  return out;
}

function reconcile(type: ApplyType, node: FieldSet, depth: number): FieldSet {
  if (depth > MAX_DEPTH) throw tooDeep();
  let out: Record<PathElement, FieldSet> | undefined;
  for (const element in node) {
    const child = node[element];
    if (element === "." || child === undefined || isEmptySet(child)) continue;
    const childType = typeAt(type, element);
    if (childType === undefined) continue;
    const next = isAtomic(childType, child) ? LEAF : reconcile(childType, child, depth + 1);
    if (next !== child) (out ??= { ...node })[element] = next;
  }
  return out ?? node;
}

function typeAt(type: ApplyType, element: PathElement): ApplyType | undefined {
  if (element.startsWith("f:")) return type.map?.field(element.slice(2)) ?? type.map?.element;
  return type.list?.item;
}

function isAtomic(type: ApplyType, node: FieldSet): boolean {
  // Free-form parts have no markers to follow.
  if (type === DEDUCED) return false;
  for (const element in node) {
    if (element === ".") continue;
    return element.startsWith("f:") ? type.map?.atomic === true : type.list?.atomic === true;
  }
  return false;
}
