import { deepEqual, type Unstructured } from "@capstan/apimachinery";
import type { ResourceType } from "../types.ts";

/** metadata.generation rises by one when anything outside metadata, and outside status where it is a subresource, changes. */
export function raiseGeneration(type: ResourceType, next: Unstructured, old: Unstructured): void {
  if (type.strategy.noGeneration === true || !changed(type, next, old)) return;
  next.metadata.generation = (old.metadata.generation ?? 0) + 1;
}

function changed(type: ResourceType, next: Unstructured, old: Unstructured): boolean {
  const ignored = (key: string): boolean => key === "metadata" || (type.status && key === "status");
  for (const key of Object.keys(next)) if (!ignored(key) && !deepEqual(next[key], old[key])) return true;
  for (const key of Object.keys(old)) if (!ignored(key) && !Object.hasOwn(next, key)) return true;
  return false;
}
