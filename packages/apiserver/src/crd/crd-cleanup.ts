import { ApiError, type Clock, deepEqual, formatTime, type Unstructured } from "@capstan/apimachinery";
import { keyOf, parseKey, prefixOf } from "../store/keys.ts";
import type { ObjectStore, StoredObject } from "../store/object-store.types.ts";
import type { InternalApi, ResourceRegistry } from "../types.ts";
import {
  CLEANUP_FINALIZER,
  CRD_KEY,
  type CustomResourceDefinition,
  isConditionTrue,
  withCondition,
} from "./crd-object.ts";

/** What the cleanup works with. */
export interface CleanupDeps {
  readonly store: ObjectStore;
  readonly api: InternalApi;
  readonly types: ResourceRegistry;
  readonly clock: Clock;
  log(message: string, error: unknown): void;
}

const MANAGER = "kube-apiserver";
const RETRY_MS = 2_000;

/**
 * Finishes deleted CRDs: deletes their instances, waits until they are deleted, removes the finalizer; and grants names that became free
 * to CRDs that wait for them. Does nothing, and holds no timer, while no CRD is being deleted.
 */
export function startCrdCleanup(deps: CleanupDeps): { stop(): void } {
  const running = new Map<string, () => void>();
  let stopped = false;
  const unsubscribe = deps.api.watch(CRD_KEY, ({ object, name, previous }) => {
    if (stopped) return;
    const crd = object as CustomResourceDefinition | undefined;
    if (crd !== undefined && freesNames(previous as CustomResourceDefinition | undefined, crd))
      void renameWaiting(deps);
    if (crd === undefined) {
      running.get(name)?.();
      running.delete(name);
      void renameWaiting(deps);
    } else if (isCleaning(crd) && !running.has(name)) running.set(name, cleanUp(deps, crd));
  });
  return {
    stop: () => {
      stopped = true;
      unsubscribe();
      for (const stop of running.values()) stop();
    },
  };
}

function freesNames(before: CustomResourceDefinition | undefined, now: CustomResourceDefinition): boolean {
  return before !== undefined && !deepEqual(before.status?.acceptedNames, now.status?.acceptedNames);
}

function isCleaning(crd: CustomResourceDefinition): boolean {
  return (
    crd.metadata.deletionTimestamp !== undefined && (crd.metadata.finalizers?.includes(CLEANUP_FINALIZER) ?? false)
  );
}

/** Deletes instances until none is left; returns a function that stops. */
function cleanUp(deps: CleanupDeps, crd: CustomResourceDefinition): () => void {
  const { store, clock } = deps;
  const name = crd.metadata.name ?? "";
  const plural = crd.status?.acceptedNames?.plural ?? crd.spec.names.plural;
  const prefix = prefixOf(crd.spec.group, plural);
  let done = false;
  let cancelRetry: () => void = () => {};
  let finishing = false;
  const finishIfEmpty = (): void => {
    if (done || finishing || store.count(prefix) > 0) return;
    finishing = true;
    finish(deps, name)
      .catch((error: unknown) => {
        if (done) return;
        deps.log(`failed to complete the deletion of ${name}; retrying`, error);
        cancelRetry();
        cancelRetry = clock.after(RETRY_MS, run);
      })
      .finally(() => {
        finishing = false;
      });
  };
  const sweep = async (): Promise<void> => {
    if (done) return;
    await announce(deps, name);
    for (const stored of store.list(prefix).items) {
      if (done) return;
      await deleteInstance(deps, crd, plural, stored);
    }
    finishIfEmpty();
  };
  const run = (): void => {
    sweep().catch((error: unknown) => {
      if (done) return;
      deps.log(`failed to delete instances of ${name}; retrying`, error);
      cancelRetry();
      cancelRetry = clock.after(RETRY_MS, run);
    });
  };
  const unsubscribe = store.subscribe(prefix, store.revision(), finishIfEmpty);
  run();
  return () => {
    done = true;
    unsubscribe();
    cancelRetry();
  };
}

async function deleteInstance(
  deps: CleanupDeps,
  crd: CustomResourceDefinition,
  plural: string,
  stored: StoredObject,
): Promise<void> {
  if (stored.object.metadata.deletionTimestamp !== undefined) return;
  const { namespace, name } = parseKey(stored.key);
  const { group } = crd.spec;
  try {
    if (deps.types.preferred(group, plural) !== undefined) await deps.api.delete({ group, plural }, namespace, name);
    // A CRD that serves no version has no pipeline to go through.
    else await deps.store.mutate(keyOf(group, plural, namespace, name), () => ({ type: "delete" }));
  } catch (error) {
    if (!(error instanceof ApiError && error.code === 404)) throw error;
  }
}

async function announce(deps: CleanupDeps, name: string): Promise<void> {
  await deps.api.update(
    CRD_KEY,
    "",
    name,
    MANAGER,
    (object) =>
      setTerminating(object, "InstanceDeletionInProgress", "CustomResource deletion is in progress", deps.clock),
    "status",
  );
}

function setTerminating(object: Unstructured, reason: string, message: string, clock: Clock): void {
  const crd = object as CustomResourceDefinition;
  const condition = { type: "Terminating", status: "True" as const, reason, message };
  crd.status = {
    ...crd.status,
    conditions: withCondition(crd.status?.conditions ?? [], condition, formatTime(clock.now())),
  };
}

async function finish(deps: CleanupDeps, name: string): Promise<void> {
  await deps.api.update(CRD_KEY, "", name, MANAGER, (object) => {
    object.metadata.finalizers = (object.metadata.finalizers ?? []).filter((f) => f !== CLEANUP_FINALIZER);
  });
}

/** A CRD that lost the race for its names gets them once the winner is deleted or no longer uses them. */
async function renameWaiting(deps: CleanupDeps): Promise<void> {
  for (const object of deps.api.list(CRD_KEY)) {
    const crd = object as CustomResourceDefinition;
    if (isConditionTrue(crd, "NamesAccepted") || crd.metadata.deletionTimestamp !== undefined) continue;
    // Every update checks the names again.
    await deps.api
      .update(CRD_KEY, "", crd.metadata.name ?? "", MANAGER, () => {})
      .catch((error: unknown) => {
        deps.log(`failed to grant the names of ${crd.metadata.name ?? ""}`, error);
      });
  }
}
