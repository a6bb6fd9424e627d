import { createMergePatch, isObject, type JsonObject, type KubeObject } from "@capstan/apimachinery";

/** The smallest merge patches that turn one state of an object into another; undefined where nothing changed. */
export interface Changes {
  /** metadata, spec and all else but the status. */
  readonly main: JsonObject | undefined;
  readonly status: JsonObject | undefined;
}

/** Computes the patches between two states of an object, separately for the object and its status subresource. */
export function changesBetween(before: KubeObject, after: KubeObject): Changes {
  const main = createMergePatch(writable(before), writable(after));
  const status = createMergePatch({ status: statusOf(before) }, { status: statusOf(after) });
  return { main: asObject(main), status: asObject(status) };
}

/** Returns whether a merge patch replaces a list, which could drop items that another manager added meanwhile. */
export function replacesList(patch: unknown): boolean {
  if (Array.isArray(patch)) return true;
  return isObject(patch) && Object.values(patch).some(replacesList);
}

/** Fields the server keeps are not ours to change. */
function writable(object: KubeObject): JsonObject {
  const { status: _, ...rest } = object as KubeObject & { status?: unknown };
  const {
    resourceVersion: _r,
    uid: _u,
    generation: _g,
    creationTimestamp: _c,
    managedFields: _m,
    deletionTimestamp: _d,
    deletionGracePeriodSeconds: _p,
    ...metadata
  } = object.metadata;
  return { ...rest, metadata };
}

function statusOf(object: KubeObject): unknown {
  return (object as KubeObject & { status?: unknown }).status;
}

function asObject(patch: unknown): JsonObject | undefined {
  return isObject(patch) && Object.keys(patch).length > 0 ? patch : undefined;
}
