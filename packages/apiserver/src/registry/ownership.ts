import {
  type FieldManagerInput,
  formatTime,
  isObject,
  type ManagedFieldsEntry,
  trackSteps,
  trackUpdate,
  type Unstructured,
} from "@capstan/apimachinery";
import { inSteps } from "../breathe.ts";
import type { ResourceType } from "../types.ts";
import { compiledApplySchema } from "./compiled.ts";
import { apiVersionOf, type RegistryCore, type WriteRequest } from "./core.ts";
import { isCustom } from "./custom-type.ts";

/** What field tracking needs to know about a request. */
export function managerInput(write: WriteRequest): Omit<FieldManagerInput, "live"> {
  const { core, type } = write;
  const input = {
    manager: write.manager,
    subresource: write.subresource,
    apiVersion: apiVersionOf(type),
    nowTime: formatTime(core.clock.now()),
    schema: compiledApplySchema(type),
  };
  return isCustom(type) ? { ...input, ...otherVersions(core, type) } : input;
}

/** Managers keep the version they wrote in; comparing their fields needs the object and its schema in that version. */
function otherVersions(core: RegistryCore, type: ResourceType): Pick<FieldManagerInput, "convert" | "schemaFor"> {
  const served = (apiVersion: string): ResourceType | undefined => {
    const slash = apiVersion.indexOf("/");
    if (slash < 0 || apiVersion.slice(0, slash) !== type.group) return undefined;
    return core.types.find(type.group, apiVersion.slice(slash + 1), type.plural);
  };
  return {
    schemaFor: (apiVersion) => {
      const other = served(apiVersion);
      return other === undefined ? undefined : compiledApplySchema(other);
    },
    convert: (object, apiVersion) => {
      if (served(apiVersion) === undefined || !isCustom(type)) return undefined;
      const { converter } = type.custom;
      // A webhook cannot be asked here; fields that have the same name in both versions are tracked all the same.
      return converter.async ? { ...object, apiVersion } : converter.convert(object, apiVersion);
    },
  };
}

/** Records the creator as owner of everything in a new object. */
export function ownCreated(write: WriteRequest, draft: Unstructured): void | Promise<void> {
  const input = { ...managerInput(write), live: undefined, next: draft };
  if (write.pause === undefined) return setManagedFields(draft, trackUpdate(input));
  return inSteps(trackSteps(input), write.pause).then((entries) => setManagedFields(draft, entries));
}

/**
 * Records the writer as owner of what it changed and takes that from others. A status request of a custom resource also comes to own
 * the metadata it sent, although that is not stored: upstream tracks before it resets.
 */
export function ownUpdated(
  write: WriteRequest,
  next: Unstructured,
  old: Unstructured,
  sent: Unstructured["metadata"],
): void | Promise<void> {
  if (write.subresource === "scale" && !replicasOwned(write.type, old)) return;
  const quirk = write.subresource === "status" && isCustom(write.type);
  const tracked = quirk ? { ...next, metadata: { ...sent, ...ownersOf(next) } } : next;
  const input = { ...managerInput(write), live: old, next: tracked };
  const finish = (entries: ManagedFieldsEntry[]): void =>
    setManagedFields(next, write.subresource === "scale" ? timelessScale(entries) : entries);
  if (write.pause === undefined) return finish(trackUpdate(input));
  return inSteps(trackSteps(input), write.pause).then(finish);
}

/** Upstream looks at a Scale's own managers only, and an object that nobody manages is not tracked. */
function replicasOwned(type: ResourceType, object: Unstructured): boolean {
  const names = (type.scale?.specReplicasPath ?? "").split(".").filter((name) => name !== "");
  return (object.metadata.managedFields ?? []).some((entry) => {
    let fields: unknown = entry.fieldsV1;
    for (const name of names) fields = isObject(fields) ? fields[`f:${name}`] : undefined;
    return fields !== undefined;
  });
}

/** Upstream's scale handler maps entries between Scale and its parent and loses their time on the way; no time sorts first. */
function timelessScale(entries: ManagedFieldsEntry[]): ManagedFieldsEntry[] {
  const applied = entries.filter((e) => e.operation === "Apply");
  const updates = entries.filter((e) => e.operation !== "Apply");
  const scales = updates.filter((e) => e.subresource === "scale").map(withoutTime);
  return [...applied, ...scales, ...updates.filter((e) => e.subresource !== "scale")];
}

function ownersOf(object: Unstructured): Pick<Unstructured["metadata"], "managedFields"> {
  const { managedFields } = object.metadata;
  return managedFields === undefined ? {} : { managedFields };
}

function setManagedFields(object: Unstructured, entries: ReturnType<typeof trackUpdate>): void {
  if (entries.length === 0) delete object.metadata.managedFields;
  else object.metadata.managedFields = entries;
}

function withoutTime(entry: ManagedFieldsEntry): ManagedFieldsEntry {
  const copy = { ...entry };
  delete copy.time;
  return copy;
}
