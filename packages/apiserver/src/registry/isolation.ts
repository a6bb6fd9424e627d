import { isObject, type Unstructured } from "@capstan/apimachinery";
import type { ResourceType } from "../types.ts";
import { isCustom } from "./custom-type.ts";

/** A kubelet registers its Node with its status, so creating one keeps it (as upstream's strategy does). */
const KEEPS_STATUS_ON_CREATE = new Set(["/nodes"]);

/** With a status subresource, creates cannot set `status`. */
export function isolateCreate(type: ResourceType, draft: Unstructured): void {
  if (type.status && !KEEPS_STATUS_ON_CREATE.has(`${type.group}/${type.plural}`)) delete draft["status"];
}

/**
 * Keeps the halves of an object apart: the main endpoint cannot change `status`, the status endpoint nothing else. Runs before field
 * ownership, so that no manager comes to own fields that it could not change. `owned` = the draft's managedFields are final.
 */
export function isolateUpdate(
  type: ResourceType,
  draft: Unstructured,
  old: Unstructured,
  subresource: string,
  owned: boolean,
): Unstructured {
  if (subresource === "") {
    if (!type.status) return draft;
    if (old["status"] === undefined) delete draft["status"];
    else draft["status"] = old["status"];
    return draft;
  }
  if (subresource !== "status") {
    for (const path of keptFields(type, subresource)) keep(draft, old, path);
    return draft;
  }
  const next: Unstructured = { ...old, metadata: statusMetadata(type, draft, old, owned) };
  if (draft["status"] === undefined) delete next["status"];
  else next["status"] = draft["status"];
  return next;
}

const NONE: readonly (readonly string[])[] = [];

/** The fields that a subresource other than `status` leaves as they are. */
export function keptFields(type: ResourceType, subresource: string): readonly (readonly string[])[] {
  return type.subresources.find(({ name }) => name === subresource)?.keeps ?? NONE;
}

/** Gives the field at `path` the old object's value; the objects on the way are copied, since they may be shared. */
function keep(
  next: Record<string, unknown>,
  old: Record<string, unknown>,
  [name = "", ...rest]: readonly string[],
): void {
  if (rest.length === 0) {
    if (old[name] === undefined) delete next[name];
    else next[name] = old[name];
    return;
  }
  const [inner, before] = [next[name], old[name]].map((value) => (isObject(value) ? { ...value } : undefined));
  if (inner === undefined && before === undefined) return;
  const merged = inner ?? {};
  keep(merged, before ?? {}, rest);
  next[name] = merged;
}

/** Status requests never change metadata of custom resources; built-ins let labels and annotations through, as upstream does. */
function statusMetadata(
  type: ResourceType,
  draft: Unstructured,
  old: Unstructured,
  owned: boolean,
): Unstructured["metadata"] {
  const metadata = { ...(isCustom(type) ? old.metadata : draft.metadata) };
  // A plain write's own list counts for nothing here; an apply has already worked out the new one.
  const { managedFields } = owned ? draft.metadata : old.metadata;
  if (managedFields === undefined) delete metadata.managedFields;
  else metadata.managedFields = managedFields;
  return metadata;
}
