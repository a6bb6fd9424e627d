import { isReason, type KubeObject } from "@capstan/apimachinery";
import type { Client } from "../client/client.ts";

/** Returns whether an object has a finalizer. */
export function hasFinalizer(object: KubeObject, finalizer: string): boolean {
  return object.metadata.finalizers?.includes(finalizer) ?? false;
}

/** Adds a finalizer if it is missing, with one write at most. An object that is being deleted is left unchanged. */
export async function ensureFinalizer<T extends KubeObject>(
  client: Client,
  object: T,
  finalizer: string,
  signal?: AbortSignal,
): Promise<T> {
  if (hasFinalizer(object, finalizer) || object.metadata.deletionTimestamp !== undefined) return object;
  return await writeFinalizers(client, object, [...(object.metadata.finalizers ?? []), finalizer], signal);
}

/** Removes a finalizer if it is set. Returns undefined when that deletes the object. */
export async function releaseFinalizer<T extends KubeObject>(
  client: Client,
  object: T,
  finalizer: string,
  signal?: AbortSignal,
): Promise<T | undefined> {
  if (!hasFinalizer(object, finalizer)) return object;
  const rest = (object.metadata.finalizers ?? []).filter((name) => name !== finalizer);
  try {
    const written = await writeFinalizers(client, object, rest, signal);
    return rest.length === 0 && object.metadata.deletionTimestamp !== undefined ? undefined : written;
  } catch (error) {
    if (isReason(error, "NotFound")) return undefined;
    throw error;
  }
}

/** The list is written whole, so the write is guarded by the revision it is based on. */
async function writeFinalizers<T extends KubeObject>(
  client: Client,
  object: T,
  finalizers: string[],
  signal?: AbortSignal,
): Promise<T> {
  const { uid, resourceVersion } = object.metadata;
  return await client.patch(object, { metadata: { uid, resourceVersion, finalizers } }, {}, signal);
}
