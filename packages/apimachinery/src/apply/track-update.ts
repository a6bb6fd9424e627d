import { deepEqual } from "../json.ts";
import type { ManagedFieldsEntry, Unstructured } from "../object.ts";
import { ApiError } from "../status.ts";
import { runSteps, type Steps } from "../steps.ts";
import {
  effectOf,
  type FieldManagerInput,
  reconcileAll,
  stripSystemFields,
  type Versioned,
  withoutManagedFields,
} from "./field-manager.ts";
import { type FieldSet, isEmptySet, union } from "./field-set.ts";
import {
  asksForReset,
  capUpdaters,
  decodeManagedFields,
  identity,
  type Managed,
  readManagedFields,
  writeManagedFields,
} from "./managed-fields.ts";

/** The new metadata.managedFields after a create, an update or a patch other than apply. Changes nothing it is given. */
export function trackUpdate(input: FieldManagerInput & { next: Unstructured }): ManagedFieldsEntry[] {
  return runSteps(trackSteps(input));
}

/** The same in pieces, for objects with very many fields. */
export function* trackSteps(input: FieldManagerInput & { next: Unstructured }): Steps<ManagedFieldsEntry[]> {
  const managed = ownersBefore(input);
  // Tracking does not start in the middle of an object's life: only a create or an apply starts it.
  if (managed.length === 0 && input.live !== undefined) return [];
  const tracked = yield* trackedUpdate(input, input.live, managed);
  yield;
  return writeManagedFields(tracked);
}

/** The entries after a write by `input.manager` that turned `live` into `next`. */
export function* trackedUpdate(
  input: FieldManagerInput & { next: Unstructured },
  live: Unstructured | undefined,
  managed: readonly Managed[],
): Steps<readonly Managed[]> {
  const { apiVersion, schema } = input;
  const before: Versioned = {
    apiVersion,
    schema,
    object: live === undefined ? schema.zero : withoutManagedFields(live),
  };
  const after: Versioned = { apiVersion, schema, object: withoutManagedFields(input.next) };
  const { comparison, others } = yield* effectOf(before, after, reconcileAll(managed, input), "", input);
  yield;
  const owned = stripSystemFields(union(comparison.modified, comparison.added));
  if (isEmptySet(owned)) return others;
  const writer: Managed = {
    manager: input.manager === "" ? "unknown" : input.manager,
    operation: "Update",
    apiVersion,
    subresource: input.subresource,
    time: input.nowTime,
    set: owned,
    // Fields that appear where nothing was are listed in order; only the top level follows the object.
    sorted: live === undefined && isEmptySet(schema.zero as FieldSet),
  };
  const id = identity(writer);
  const previous = others.find((m) => identity(m) === id);
  const entry = previous === undefined ? writer : { ...writer, set: union(owned, previous.set), sorted: false };
  return capUpdaters([...others.filter((m) => m !== previous), entry]);
}

/** A client may edit the list of owners itself; an invalid list is ignored in favour of the stored one, as upstream does. */
function ownersBefore(input: FieldManagerInput & { next: Unstructured }): Managed[] {
  const stored = input.live?.metadata.managedFields;
  const sent: unknown = input.next.metadata.managedFields;
  if (input.subresource !== "" || sent === undefined || sent === null || deepEqual(sent, stored)) {
    return readManagedFields(stored);
  }
  if (asksForReset(sent)) return [];
  try {
    return decodeManagedFields(sent);
  } catch (error) {
    if (error instanceof ApiError) return readManagedFields(stored);
    throw error;
  }
}
