import {
  type FieldManagerInput,
  formatTime,
  isObject,
  type ManagedFieldsEntry,
  trackSteps,
  trackUpdate,
  type Unstructured,
} from "@capstan/apimachinery";
import { inSteps } from "../long-work.ts";
import type { ResourceType } from "../types.ts";
import { compiledApplySchema } from "./compiled.ts";
import { type Convert, withConversions } from "./conversions.ts";
import { apiVersionOf, type RegistryCore, type WriteRequest } from "./core.ts";
import { isCustom } from "./custom-type.ts";

/** What field tracking needs to know about a request. */
export function managerInput(write: WriteRequest, convert: Convert): Omit<FieldManagerInput, "live"> {
  const { core, type } = write;
  const input = {
    manager: write.manager,
    subresource: write.subresource,
    apiVersion: apiVersionOf(type),
    nowTime: formatTime(core.clock.now()),
    schema: compiledApplySchema(type),
  };
  return isCustom(type) ? { ...input, ...otherVersions(core, type, convert) } : input;
}

/** Managers keep the version they wrote in; comparing their fields needs the object and its schema in that version. */
function otherVersions(
  core: RegistryCore,
  type: ResourceType,
  convert: Convert,
): Pick<FieldManagerInput, "convert" | "schemaFor"> {
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
    convert: (object, apiVersion) => (served(apiVersion) === undefined ? undefined : convert(object, apiVersion)),
  };
}

/** Records the creator as owner of everything in a new object. */
export function ownCreated(write: WriteRequest, draft: Unstructured): void | Promise<void> {
  const owners = track(write, { live: undefined, next: draft });
  if (owners instanceof Promise) return owners.then((entries) => setManagedFields(draft, entries));
  setManagedFields(draft, owners);
}

/** Computes the field owners after the write. If a webhook fails to convert, fields of the same name in both versions are tracked all the same. */
function track(
  write: WriteRequest,
  objects: { live: Unstructured | undefined; next: Unstructured },
): ManagedFieldsEntry[] | Promise<ManagedFieldsEntry[]> {
  const { pause } = write;
  const work = (convert: Convert): ManagedFieldsEntry[] | Promise<ManagedFieldsEntry[]> => {
    const input = { ...managerInput(write, convert), ...objects };
    return pause === undefined ? trackUpdate(input) : inSteps(trackSteps(input), pause);
  };
  return withConversions(write.type, work, "rename");
}

/** Records the writer as owner of what it changed and takes that from others. */
export function ownUpdated(write: WriteRequest, next: Unstructured, old: Unstructured): void | Promise<void> {
  if (write.subresource === "scale" && !replicasOwned(write.type, old)) return;
  const finish = (entries: ManagedFieldsEntry[]): void =>
    setManagedFields(next, write.subresource === "scale" ? timelessScale(entries) : entries);
  const owners = track(write, { live: old, next });
  return owners instanceof Promise ? owners.then(finish) : finish(owners);
}

/** Upstream looks at a Scale's own managers only, and an object without managers is not tracked. */
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

function setManagedFields(object: Unstructured, entries: ReturnType<typeof trackUpdate>): void {
  if (entries.length === 0) delete object.metadata.managedFields;
  else object.metadata.managedFields = entries;
}

function withoutTime(entry: ManagedFieldsEntry): ManagedFieldsEntry {
  const copy = { ...entry };
  delete copy.time;
  return copy;
}
