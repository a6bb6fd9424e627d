import type { JsonObject } from "../json.ts";
import { type FieldManagerInput, toVersion, type Versioned } from "./field-manager.ts";
import { difference, type FieldSet, intersection, isSubset, LEAF, union } from "./field-set.ts";
import type { Managed } from "./managed-fields.ts";
import { presentFields } from "./owned-fields.ts";
import { removeFields, withNamedFields } from "./remove-fields.ts";

/**
 * Removes from a merged object what this applier applied last time, no longer applies, and no other manager owns. What it never owned
 * stays, also inside of list items that would otherwise go.
 */
export function pruneFields(
  merged: Versioned,
  managed: readonly Managed[],
  self: Managed,
  last: Managed,
  input: FieldManagerInput,
): Versioned {
  if (last.apiVersion === self.apiVersion && isSubset(last.set, self.set)) return merged;
  const then = toVersion(merged, last.apiVersion, input);
  if (then === undefined) return merged;
  const named = (v: Versioned, set: FieldSet): FieldSet => withNamedFields(v.schema.root, set);
  const stated = (v: Versioned): FieldSet => named(v, presentFields(v.schema.root, v.object));
  const without = (v: Versioned, set: FieldSet, emptied: "empty" | "null" = "null"): Versioned => {
    const object: JsonObject = removeFields(v.schema.root, v.object, set, emptied);
    return { ...v, object };
  };

  let whole = then;
  let pruned = without(then, named(then, last.set));
  // First the version of the last apply, so that what a conversion needs is back before anything is converted.
  const ownedBy = ownedPerVersion(managed);
  const versions = [...ownedBy.keys()].sort((a, b) => Number(b === last.apiVersion) - Number(a === last.apiVersion));
  for (const apiVersion of versions) {
    const wholeThere = toVersion(whole, apiVersion, input);
    const prunedThere = toVersion(pruned, apiVersion, input);
    if (wholeThere === undefined || prunedThere === undefined) continue;
    const owned = named(wholeThere, ownedBy.get(apiVersion) ?? LEAF);
    whole = wholeThere;
    pruned = without(whole, difference(stated(whole), union(stated(prunedThere), owned)));
  }
  const prunedThen = toVersion(pruned, last.apiVersion, input);
  if (prunedThen === undefined) return merged;
  const gone = intersection(difference(stated(then), stated(prunedThen)), named(then, last.set));
  return toVersion(without(then, gone, "empty"), self.apiVersion, input) ?? merged;
}

function ownedPerVersion(managed: readonly Managed[]): Map<string, FieldSet> {
  const out = new Map<string, FieldSet>();
  for (const { apiVersion, set } of managed) out.set(apiVersion, union(out.get(apiVersion) ?? LEAF, set));
  return out;
}
