import {
  ApiError,
  conflict,
  deepCopy,
  deepEqual,
  formatTime,
  notFound,
  type Unstructured,
} from "@capstan/apimachinery";
import type { DeleteOptions } from "../server/query-options.ts";
import type { Mutation, StoredObject } from "../store/object-store.types.ts";
import { admissionFor, runMutating, runValidating } from "./admission.ts";
import { groupResource, type WriteOutcome, type WriteRequest } from "./core.ts";
import { finalizersFor, mustVanish } from "./finalizers.ts";
import { requestedKey } from "./keys.ts";
import { viewOf } from "./views.ts";

/** Removes an object, or marks it as being deleted while finalizers (or its kind) hold it. */
export async function deleteObject(write: WriteRequest, options: DeleteOptions): Promise<WriteOutcome> {
  const { core, type } = write;
  const key = requestedKey(type, write.namespace, write.name);
  const base = core.store.peek(key);
  if (base === undefined) throw notFound(groupResource(type), write.name);
  const seen = viewOf(type, base);
  const view = seen instanceof Promise ? await seen : seen;
  const admission = admissionFor(write, "DELETE", undefined, view.object, deleteOptionsObject(options));
  const mutating = runMutating(admission);
  if (mutating !== undefined) await mutating;
  const validating = runValidating(admission);
  if (validating !== undefined) await validating;

  if (options.dryRun) {
    const plan = decide(write, options, base);
    return plan.type === "put" ? { status: 200, object: plan.object } : gone(write, view.object);
  }
  let removed = false;
  const result = await core.store
    .mutate(key, (current) => {
      if (current === undefined) throw notFound(groupResource(type), write.name);
      const plan = decide(write, options, current);
      removed = plan.type === "delete";
      return plan;
    })
    .catch(async (error: unknown) => {
      if (error instanceof ApiError) await core.store.mutate(key, () => ({ type: "none" }));
      throw error;
    });
  if (result.changed) core.committed(type);
  if (removed || result.stored === undefined) return gone(write, view.object);
  const after = viewOf(type, result.stored);
  const left = after instanceof Promise ? await after : after;
  return { status: 200, object: left.object, view: left };
}

/** What becomes of the stored object. Runs inside the store's decision, so it sees the newest state. */
function decide(write: WriteRequest, options: DeleteOptions, stored: StoredObject): Mutation {
  const { core, type } = write;
  const old = stored.object;
  checkPreconditions(write, options, old);
  const next = deepCopy(old);
  const finalizers = finalizersFor(old, options.propagationPolicy);
  if (finalizers.length > 0) next.metadata.finalizers = [...finalizers];
  else delete next.metadata.finalizers;
  if (old.metadata.deletionTimestamp !== undefined) {
    if (mustVanish(type, next)) return { type: "delete" };
    return deepEqual(next, old) ? { type: "none" } : { type: "put", object: next };
  }
  next.metadata.deletionTimestamp = formatTime(core.clock.now());
  type.strategy.prepareForDelete?.(next);
  if (mustVanish(type, next)) return { type: "delete" };
  // Kinds that hold their own deletion (namespaces, CRDs) are marked by their own code upstream, without these two.
  if (type.strategy.prepareForDelete !== undefined) return { type: "put", object: next };
  if ((next.metadata.finalizers?.length ?? 0) > 0) next.metadata.deletionGracePeriodSeconds ??= 0;
  if ((next.metadata.generation ?? 0) > 0) next.metadata.generation = (next.metadata.generation ?? 0) + 1;
  return { type: "put", object: next };
}

function checkPreconditions(write: WriteRequest, options: DeleteOptions, object: Unstructured): void {
  const { uid, resourceVersion } = options.preconditions ?? {};
  const { metadata } = object;
  // Upstream names the kind, not the resource, in this one conflict.
  const kind = { group: write.type.group, resource: write.type.kind };
  if (uid !== undefined && uid !== metadata.uid) {
    const detail = `the UID in the precondition (${uid}) does not match the UID in record (${metadata.uid ?? ""}). The object might have been deleted and then recreated`;
    throw conflict(kind, write.name, detail);
  }
  if (resourceVersion !== undefined && resourceVersion !== metadata.resourceVersion) {
    const detail = `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${metadata.resourceVersion ?? ""}). The object might have been modified`;
    throw conflict(kind, write.name, detail);
  }
}

function gone(write: WriteRequest, object: Unstructured): WriteOutcome {
  const { type } = write;
  return {
    status: 200,
    object: {
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Success",
      details: {
        name: write.name,
        ...(type.group === "" ? {} : { group: type.group }),
        kind: type.plural,
        uid: object.metadata.uid,
      },
    },
  };
}

function deleteOptionsObject(options: DeleteOptions): Record<string, unknown> {
  return {
    kind: "DeleteOptions",
    apiVersion: "meta.k8s.io/v1",
    propagationPolicy: options.propagationPolicy,
    gracePeriodSeconds: options.gracePeriodSeconds,
    preconditions: options.preconditions,
    ...(options.dryRun ? { dryRun: ["All"] } : {}),
  };
}
