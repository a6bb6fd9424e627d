import { ApiError, conflict, deepCopy, deepEqual, notFound, type Unstructured } from "@capstan/apimachinery";
import { yieldToEventLoop } from "@capstan/apimachinery/foreign";
import type { StoredObject } from "../store/object-store.types.ts";
import { type Admission, admissionFor, runMutating, runValidating } from "./admission.ts";
import { groupResource, type WriteOutcome, type WriteRequest } from "./core.ts";
import { isCustom } from "./custom-type.ts";
import { mustVanish } from "./finalizers.ts";
import { raiseGeneration } from "./generation.ts";
import { isolateUpdate } from "./isolation.ts";
import { requestedKey } from "./keys.ts";
import { ownUpdated } from "./ownership.ts";
import { enforceSizeLimits } from "./size-limits.ts";
import {
  checkIdentity,
  checkResourceVersion,
  dropDuplicateOwners,
  restoreSystemMetadata,
  warnBareFinalizers,
} from "./system-metadata.ts";
import { validateUpdate } from "./validate.ts";
import { isCurrent, toStorage, type View, viewOf } from "./views.ts";

/** What a request makes of the current object: a private draft, and whether its field ownership is settled already (apply). */
export interface Change {
  readonly draft: Unstructured;
  readonly owned: boolean;
}

/** How often a change is retried when another client wrote during slow admission. */
const ATTEMPTS = 8;

/** Thrown inside the store's decision when the object is no longer the one the change was made from. */
class Overtaken extends Error {}

/**
 * Changes one object: `change` sees the newest state and returns what the client wants (a large object in pieces, with the given
 * pause); the rest of the pipeline runs on it. Without
 * webhooks and large bodies nothing awaits between reading and writing, so one attempt is enough.
 */
export async function updateObject(
  write: WriteRequest,
  change: (old: Unstructured, pause?: () => Promise<void>) => Change | Promise<Change>,
  createMissing?: () => Promise<WriteOutcome>,
): Promise<WriteOutcome> {
  const { core, type } = write;
  const key = requestedKey(type, write.namespace, write.name);
  for (let attempt = 1; ; attempt++) {
    const base = core.store.peek(key);
    if (base === undefined) {
      if (createMissing !== undefined) return createMissing();
      throw notFound(groupResource(type), write.name);
    }
    try {
      const paused = base.large && write.pause === undefined ? { ...write, pause: yieldToEventLoop } : write;
      return await updateOnce(paused, key, base, (old) => change(old, paused.pause));
    } catch (error) {
      if (error instanceof Overtaken) {
        if (attempt < ATTEMPTS) continue;
        throw conflict(groupResource(type), write.name);
      }
      // Rejected because of a write that is not durable yet: the next read must find it.
      if (error instanceof ApiError && error.code === 409) await core.store.mutate(key, () => ({ type: "none" }));
      throw error;
    }
  }
}

async function updateOnce(
  write: WriteRequest,
  key: string,
  base: StoredObject,
  change: (old: Unstructured) => Change | Promise<Change>,
): Promise<WriteOutcome> {
  const { type } = write;
  const seen = viewOf(type, base);
  const view = seen instanceof Promise ? await seen : seen;
  const old = view.object;
  const wanted = change(old);
  const { draft, owned } = wanted instanceof Promise ? await wanted : wanted;
  checkIdentity(write, draft, old);
  checkResourceVersion(write, draft, old);
  restoreSystemMetadata(draft.metadata, old.metadata);
  dropDuplicateOwners(draft.metadata, write.warn);
  warnBareFinalizers(type, draft.metadata, old.metadata, write.warn);
  const next = isolateUpdate(type, draft, old, write.subresource, owned);
  if (write.pause !== undefined) await write.pause();
  const owning = owned ? undefined : ownUpdated(write, next, old);
  if (owning instanceof Promise) await owning;
  if (write.pause !== undefined) await write.pause();
  const admission = admissionFor(write, "UPDATE", next, old, updateOptions(write));
  const mutating = runMutating(admission);
  if (mutating !== undefined) await mutating;
  return finish(write, key, base, view, admission, owned);
}

/** Upstream makes an update's options of a patch's, and forgets field validation on the way. */
function updateOptions(write: WriteRequest): Record<string, unknown> {
  const given = write.attributes.verb === "patch" ? undefined : write.options.givenFieldValidation;
  return {
    kind: "UpdateOptions",
    apiVersion: "meta.k8s.io/v1",
    ...(write.options.dryRun ? { dryRun: ["All"] } : {}),
    ...(write.options.fieldManager === "" ? {} : { fieldManager: write.options.fieldManager }),
    fieldValidation: given,
  };
}

async function finish(
  write: WriteRequest,
  key: string,
  base: StoredObject,
  view: View,
  admission: Admission,
  applied: boolean,
): Promise<WriteOutcome> {
  const { core, type } = write;
  const old = view.object;
  const next = admission.request.object ?? old;
  type.strategy.prepareForUpdate?.(next, old, write.subresource, core.clock.now());
  if (write.subresource === "") type.strategy.settleAmongOthers?.(next, old);
  if (write.pause !== undefined) await write.pause();
  if (write.subresource !== "status") raiseGeneration(type, next, old);
  if (write.pause !== undefined) await type.strategy.judgeAhead?.(next, write.pause, old);
  // Parts that are shared with an object of another schema must be looked at: a copy shares nothing.
  const passed = !isCustom(type) || isCurrent(type, base);
  validateUpdate(type, next, passed ? old : deepCopy(old), write.subresource);
  for (const text of type.strategy.warnings?.(next, old) ?? []) write.warn(text);
  if (write.pause !== undefined) await write.pause();
  const validating = runValidating(admission);
  if (validating !== undefined) await validating;
  enforceSizeLimits(write, next);
  if (write.pause !== undefined) await write.pause();
  const vanishes = mustVanish(type, next);
  if (write.options.dryRun) return { status: 200, object: next };
  if (!vanishes && (deepEqual(next, old) || (applied && differsInTimesOnly(next, old)))) {
    // Nothing changes: no revision, no event. The answer still waits until what it shows is durable.
    await core.store.mutate(key, () => ({ type: "none" }));
    return { status: 200, object: old, view };
  }
  if (write.pause !== undefined) await write.pause();
  const storing = toStorage(type, next);
  const object = storing instanceof Promise ? await storing : storing;
  const result = await core.store.mutate(key, (current) => {
    if (current?.revision !== base.revision) throw new Overtaken();
    if (vanishes) return { type: "delete" };
    if (write.subresource === "") type.strategy.settleAmongOthers?.(object, old);
    return { type: "put", object };
  });
  core.committed(type);
  // The answer shows the wanted object; watchers are shown what was stored last, with its finalizers.
  if (vanishes || result.stored === undefined) return { status: 200, object: next };
  const after = viewOf(type, result.stored);
  const final = after instanceof Promise ? await after : after;
  return { status: 200, object: final.object, view: final };
}

/**
 * Whether all that an apply changes is when its manager last applied: defaults may give back what the merge took away. Upstream
 * ignores such times too.
 */
function differsInTimesOnly(next: Unstructured, old: Unstructured): boolean {
  const { managedFields: before = [] } = old.metadata;
  const { managedFields: after = [] } = next.metadata;
  if (before.length !== after.length) return false;
  const managedFields = after.map((entry, i) =>
    before[i]?.time === undefined ? entry : { ...entry, time: before[i].time },
  );
  return deepEqual({ ...next, metadata: { ...next.metadata, managedFields } }, old);
}
