import type { JsonObject } from "../json.ts";
import type { Unstructured } from "../object.ts";
import type { Steps } from "../steps.ts";
import type { CompiledApplySchema } from "./apply-type.ts";
import { type Comparison, compareObjects } from "./compare.ts";
import { difference, exclude, type FieldSet, intersection, LEAF, setOfPaths, union } from "./field-set.ts";
import { identity, type Managed } from "./managed-fields.ts";
import { reconcileSet } from "./reconcile.ts";

/** What a write needs to know to keep track of who owns which field. */
export interface FieldManagerInput {
  /** The stored object in the version of the request; undefined when it is being created. */
  live: Unstructured | undefined;
  /** The `fieldManager` parameter, or what stands for it. */
  manager: string;
  /** Empty for the main endpoint. */
  subresource: string;
  /** The version of the request. */
  apiVersion: string;
  /** Now, as metav1.Time. */
  nowTime: string;
  schema: CompiledApplySchema;
  /** Paths this endpoint resets whatever the client sends, e.g. `[["status"]]` for the main endpoint. */
  ignore?: readonly (readonly string[])[];
  /** Converts an object to another version; undefined when that version is no longer served. */
  convert?: (object: Unstructured, apiVersion: string) => Unstructured | undefined;
  /** The schema of another version. */
  schemaFor?: (apiVersion: string) => CompiledApplySchema | undefined;
}

/** Fields without owners: the server maintains them. */
const STRIPPED = setOfPaths([
  ["apiVersion"],
  ["kind"],
  ["metadata"],
  ...[
    "name",
    "namespace",
    "creationTimestamp",
    "selfLink",
    "uid",
    "clusterName",
    "generation",
    "managedFields",
    "resourceVersion",
  ].map((field) => ["metadata", field]),
]);

/** The set without fields that are never owned. */
export function stripSystemFields(set: FieldSet): FieldSet {
  return difference(set, STRIPPED);
}

const ignoreSets = new WeakMap<readonly (readonly string[])[], FieldSet>();

/** The set without what the endpoint resets. */
export function withoutIgnored(set: FieldSet, ignore: FieldManagerInput["ignore"]): FieldSet {
  if (ignore === undefined || ignore.length === 0) return set;
  let ignored = ignoreSets.get(ignore);
  if (ignored === undefined) {
    ignored = setOfPaths(ignore);
    ignoreSets.set(ignore, ignored);
  }
  return exclude(set, ignored);
}

/** An object and its schema in some version. */
export interface Versioned {
  readonly apiVersion: string;
  readonly object: JsonObject;
  readonly schema: CompiledApplySchema;
}

/** The same object in another version; undefined when that version is no longer served. */
export function toVersion(v: Versioned, apiVersion: string, input: FieldManagerInput): Versioned | undefined {
  if (v.apiVersion === apiVersion) return v;
  const schema = apiVersion === input.apiVersion ? input.schema : input.schemaFor?.(apiVersion);
  if (schema === undefined || input.convert === undefined) return undefined;
  const object = input.convert(v.object as Unstructured, apiVersion);
  return object === undefined ? undefined : { apiVersion, object, schema };
}

/** Entries adapted to the current schemas; those of versions that are no longer served are dropped. */
export function reconcileAll(managed: readonly Managed[], input: FieldManagerInput): Managed[] {
  const out: Managed[] = [];
  for (const m of managed) {
    const schema = m.apiVersion === input.apiVersion ? input.schema : input.schemaFor?.(m.apiVersion);
    if (schema === undefined) continue;
    const set = reconcileSet(schema, m.set);
    out.push(set === m.set ? m : { ...m, set });
  }
  return out;
}

/** The effect of a change on all managers' fields. */
export interface Effect {
  /** The change in the version of the request. */
  readonly comparison: Comparison;
  /** Who else owned what was changed or added. */
  readonly conflicts: readonly { manager: Managed; set: FieldSet }[];
  /** All entries but the writer's own, without what was taken or removed. */
  readonly others: Managed[];
}

/** Compares before and after in every version some manager used, and takes changed and removed fields from the others. */
export function* effectOf(
  before: Versioned,
  after: Versioned,
  managed: readonly Managed[],
  self: string,
  input: FieldManagerInput,
): Steps<Effect> {
  const comparisons = new Map<string, (Comparison & { touched: FieldSet }) | undefined>();
  const compareIn = (apiVersion: string): (Comparison & { touched: FieldSet }) | undefined => {
    if (!comparisons.has(apiVersion)) {
      const comparison = compareAt(before, after, apiVersion, input);
      comparisons.set(
        apiVersion,
        comparison === undefined ? undefined : { ...comparison, touched: union(comparison.modified, comparison.added) },
      );
    }
    return comparisons.get(apiVersion);
  };
  const conflicts: { manager: Managed; set: FieldSet }[] = [];
  const others: Managed[] = [];
  for (const manager of managed) {
    if (identity(manager) === self) continue;
    const comparison = compareIn(manager.apiVersion);
    yield;
    if (comparison === undefined) continue;
    const taken = intersection(manager.set, comparison.touched);
    const conflict = Object.keys(taken).length > 0;
    if (conflict) conflicts.push({ manager, set: taken });
    const set = difference(conflict ? difference(manager.set, taken) : manager.set, comparison.removed);
    others.push(set === manager.set ? manager : { ...manager, set });
  }
  return {
    comparison: compareIn(input.apiVersion) ?? { added: LEAF, modified: LEAF, removed: LEAF },
    conflicts,
    others,
  };
}

function compareAt(
  before: Versioned,
  after: Versioned,
  apiVersion: string,
  input: FieldManagerInput,
): Comparison | undefined {
  const left = toVersion(before, apiVersion, input);
  const right = toVersion(after, apiVersion, input);
  if (left === undefined || right === undefined) return undefined;
  const { added, modified, removed } = compareObjects(left.schema.root, left.object, right.object);
  return {
    added: withoutIgnored(added, input.ignore),
    modified: withoutIgnored(modified, input.ignore),
    removed: withoutIgnored(removed, input.ignore),
  };
}

/** The object without its list of owners, which takes no part in comparisons. */
export function withoutManagedFields(object: Unstructured): JsonObject {
  if (object.metadata?.managedFields === undefined) return object;
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}
