import { type JsonObject, type KubeObject } from "@capstan/apimachinery";
import type { Client } from "../client/client.ts";
import { changesBetween, replacesList } from "./changes.ts";

/** Options of `writeChanges`. */
export interface WriteChangesOptions {
  /**
   * When to require that the object has not changed since it was read (a Conflict otherwise): by default when a list is replaced,
   * as merge patches write lists whole.
   */
  readonly guard?: "lists" | "always" | "never" | undefined;
}

/**
 * Writes the differences between the object as read and as desired, with at most one patch of metadata and spec and one of the status.
 * Returns the object as the server stored it.
 */
export async function writeChanges<T extends KubeObject>(
  client: Client,
  before: T,
  after: T,
  options: WriteChangesOptions = {},
  signal?: AbortSignal,
): Promise<T> {
  const { main, status } = changesBetween(before, after);
  let current = before;
  if (main !== undefined) {
    current = await client.patch(before, guarded(main, current, options), {}, signal);
  }
  if (status !== undefined) {
    current = await client.patchStatus(before, guarded(status, current, options), {}, signal);
  }
  return current;
}

function guarded(patch: JsonObject, current: KubeObject, options: WriteChangesOptions): JsonObject {
  const guard = options.guard ?? "lists";
  if (guard === "never" || (guard === "lists" && !replacesList(patch))) return patch;
  const metadata = (patch["metadata"] ?? {}) as JsonObject;
  return { ...patch, metadata: { ...metadata, resourceVersion: current.metadata.resourceVersion } };
}
