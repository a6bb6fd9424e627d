import { badRequest } from "../errors.ts";
import { goJson } from "../go-text.ts";
import { gvkOf } from "../gvk.ts";
import { deepCopy, deepEqual, isObject, type JsonObject, setOwn } from "../json.ts";
import type { ObjectMeta, Unstructured } from "../object.ts";
import { runSteps, type Steps } from "../steps.ts";
import { conflictError } from "./conflict.ts";
import {
  type Effect,
  effectOf,
  type FieldManagerInput,
  reconcileAll,
  stripSystemFields,
  type Versioned,
  withoutIgnored,
  withoutManagedFields,
} from "./field-manager.ts";
import { difference, type FieldSet, isEmptySet, isSubset, LEAF } from "./field-set.ts";
import { allowedByLastApplied, LAST_APPLIED } from "./last-applied.ts";
import { identity, type Managed, readManagedFields, writeManagedFields } from "./managed-fields.ts";
import { mergeObjects } from "./merge.ts";
import { checkApplied, statedFields } from "./owned-fields.ts";
import { pruneFields } from "./prune.ts";
import { trackedUpdate } from "./track-update.ts";

/** Input of a server-side apply. */
export interface ApplyInput extends FieldManagerInput {
  /** The applied configuration, as sent: without defaults. */
  patch: Unstructured;
  /** Take fields of others instead of failing with a conflict. */
  force: boolean;
  /**
   * What the result may share with the live object, which is frozen, where it did not change: all of it, or its status alone. The rest
   * is the caller's to change.
   */
  share?: "all" | "status";
}

/** The result of an apply. */
export interface Applied {
  readonly object: Unstructured;
  readonly changed: boolean;
}

/** Owner of everything an object had before its first apply, when no manager was tracked. */
const BEFORE_FIRST_APPLY = "before-first-apply";

/**
 * Server-side apply. Returns a new object, not yet defaulted, with its new managedFields; `changed` says whether anything
 * else differs from the live one. Throws ApiError: 409 with a cause per field in conflict, 400 for a patch that does not fit.
 */
export function applyPatch(input: ApplyInput): Applied {
  return runSteps(applySteps(input));
}

/** The same in pieces, for objects with very many fields. */
export function* applySteps(input: ApplyInput): Steps<Applied> {
  checkPatch(input);
  yield;
  const { apiVersion, schema, patch } = input;
  const { live: stored } = input;
  const live: Versioned = {
    apiVersion,
    schema,
    object: stored === undefined ? emptyObject(input) : withoutManagedFields(stored),
  };
  const previous = reconcileAll(yield* ownersBefore(input), input);
  yield;
  const { owned, present } = statedFields(schema.root, patch);
  const self: Managed = {
    manager: input.manager,
    operation: "Apply",
    apiVersion,
    subresource: input.subresource,
    time: undefined,
    set: withoutIgnored(owned, input.ignore),
  };
  yield;
  const id = identity(self);
  const last = previous.find((m) => identity(m) === id);
  const others = previous.filter((m) => m !== last);
  const managed = [...others, self];
  const merged: Versioned = { apiVersion, schema, object: mergeObjects(schema.root, live.object, patch) };
  yield;
  const kept: Managed = present === owned ? self : { ...self, set: withoutIgnored(present, input.ignore) };
  const next = last === undefined ? merged : pruneFields(merged, [...others, kept], kept, last, input);
  yield;
  const effect = yield* effectOf(live, next, managed, id, input);
  refuseConflicts(effect, live, input);
  yield;
  const changed = stored === undefined || !deepEqual(live.object, next.object);
  const time = changed ? input.nowTime : last?.time;
  const set = stripSystemFields(self.set);
  // Who applies the same fields as last time keeps the stored set, which needs no encoding.
  const same = last !== undefined && isSubset(set, last.set) && isSubset(last.set, set);
  const entry: Managed = { ...self, time, set: same ? last.set : set };
  yield;
  const object = copyNext(next.object, live.object, input.share) as Unstructured;
  yield;
  syncLastApplied(object, input);
  const entries = writeManagedFields([...effect.others, entry]);
  if (entries.length > 0) object.metadata.managedFields = entries;
  return { object, changed };
}

function copyNext(next: JsonObject, live: JsonObject, share: ApplyInput["share"]): JsonObject {
  if (share === undefined) return deepCopy(next);
  const out: JsonObject = {};
  for (const key of Object.keys(next)) {
    const value = next[key];
    // The server writes into metadata, whatever else is shared.
    if (key === "metadata" && isObject(value)) out[key] = share === "all" ? { ...value } : deepCopy(value);
    else setOwn(out, key, share === "all" || key === "status" ? copyUnlessSame(value, live[key]) : deepCopy(value));
  }
  return out;
}

function copyUnlessSame(value: unknown, live: unknown): unknown {
  if (value === live || typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    const items: readonly unknown[] = Array.isArray(live) ? live : [];
    return value.map((item, i) => copyUnlessSame(item, items[i]));
  }
  if (!isObject(live)) return deepCopy(value);
  const out: JsonObject = {};
  for (const key of Object.keys(value)) {
    setOwn(out, key, copyUnlessSame((value as JsonObject)[key], Object.hasOwn(live, key) ? live[key] : undefined));
  }
  return out;
}

function checkPatch(input: ApplyInput): void {
  const { patch, apiVersion } = input;
  if (patch.apiVersion !== apiVersion) {
    throw badRequest(
      `Incorrect version specified in apply patch. Specified patch version: ${patch.apiVersion}, expected: ${apiVersion}`,
    );
  }
  if (!isObject(patch.metadata)) throw badRequest("metadata: must be an object with the name of the applied object");
  if (patch.metadata.managedFields !== undefined && patch.metadata.managedFields !== null) {
    throw badRequest("metadata.managedFields must be nil");
  }
  const { namespace = "", name = "" }: ObjectMeta = patch.metadata;
  const { group, version, kind } = gvkOf(patch);
  const gv = group === "" ? `/${version}` : `${group}/${version}`;
  checkApplied(input.schema.root, patch, `${namespace}/${name}; ${gv}, Kind=${kind}`);
}

function emptyObject(input: ApplyInput): JsonObject {
  return { apiVersion: input.patch.apiVersion, kind: input.patch.kind };
}

/** An object that was never tracked belongs, as it is, to a stand-in: else the first apply could take it all silently. */
function* ownersBefore(input: ApplyInput): Steps<readonly Managed[]> {
  const managed = readManagedFields(input.live?.metadata.managedFields);
  if (managed.length > 0 || input.live === undefined) return managed;
  return yield* trackedUpdate({ ...input, manager: BEFORE_FIRST_APPLY, next: input.live }, undefined, []);
}

function refuseConflicts(effect: Effect, live: Versioned, input: ApplyInput): void {
  if (input.force || effect.conflicts.length === 0) return;
  const allowed: FieldSet = input.manager === "kubectl" ? allowedByLastApplied(live) : LEAF;
  const left = effect.conflicts
    .map(({ manager, set }) => ({ manager, set: difference(set, allowed) }))
    .filter(({ set }) => !isEmptySet(set));
  if (left.length > 0) throw conflictError(left);
}

/** kubectl's server-side apply keeps the annotation of its client-side apply up to date, so that users can go back. */
function syncLastApplied(object: Unstructured, input: ApplyInput): void {
  const annotations = object.metadata.annotations;
  if (input.manager !== "kubectl" || annotations === undefined || !annotations[LAST_APPLIED]) return;
  const applied = deepCopy(input.patch);
  if (applied.metadata.annotations !== undefined) delete applied.metadata.annotations[LAST_APPLIED];
  setOwn(annotations, LAST_APPLIED, `${goJson(applied)}\n`);
}
