import {
  badRequest,
  conflict,
  formatTime,
  invalid,
  invalidValue,
  type ObjectMeta,
  randomUuid,
  type Unstructured,
} from "@capstan/apimachinery";
import type { ResourceType } from "../types.ts";
import { groupResource, type RegistryCore, type WriteRequest } from "./core.ts";

/** Checks the body's namespace against the path's and fills it in. */
export function settleNamespace(type: ResourceType, meta: ObjectMeta, namespace: string): void {
  const given = meta.namespace ?? "";
  if (!type.namespaced) {
    if (given !== "") throw badRequest("namespace may not be set on cluster-scoped objects: remove metadata.namespace");
    return;
  }
  if (given === "") meta.namespace = namespace;
  else if (given !== namespace) {
    throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
  }
}

/** Clears what only the server may set on a new object and sets uid and creationTimestamp. */
export function fillSystemMetadata(core: RegistryCore, type: ResourceType, meta: ObjectMeta): void {
  delete meta.deletionTimestamp;
  delete meta.deletionGracePeriodSeconds;
  delete (meta as Record<string, unknown>)["selfLink"];
  // Kinds that do not count generations leave the field to the client, as upstream does.
  if (type.strategy.noGeneration !== true) delete meta.generation;
  meta.uid = randomUuid(core.random);
  meta.creationTimestamp = formatTime(core.clock.now());
}

/** Name rules of an update's body: the name must be the URL's, the uid (if given) the object's. */
export function checkIdentity(write: WriteRequest, draft: Unstructured, old: Unstructured): void {
  const { name, uid } = draft.metadata;
  if (name === undefined) draft.metadata.name = write.name;
  else if (name !== write.name) {
    throw badRequest(`the name of the object (${name}) does not match the name on the URL (${write.name})`);
  }
  settleNamespace(write.type, draft.metadata, write.namespace);
  // A patch that changes the uid is refused by validation, as a change of something immutable.
  if (uid !== undefined && uid !== old.metadata.uid && write.attributes.verb !== "patch") {
    const key = `/registry/${write.type.builtin ? "" : `${write.type.group}/`}${write.type.plural}/${write.namespace === "" ? "" : `${write.namespace}/`}${write.name}`;
    throw conflict(
      groupResource(write.type),
      write.name,
      `StorageError: invalid object, Code: 4, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: ${uid}, UID in object meta: ${old.metadata.uid ?? ""}`,
    );
  }
}

/** The optimistic lock of an update. */
export function checkResourceVersion(write: WriteRequest, draft: Unstructured, old: Unstructured): void {
  const { resourceVersion } = draft.metadata;
  if (resourceVersion === undefined || resourceVersion === "") {
    if (!write.type.strategy.allowUnconditionalUpdate) {
      // Upstream names the resource, not the kind, in this one refusal.
      throw invalid({ group: write.type.group, kind: write.type.plural }, write.name, [
        invalidValue("metadata.resourceVersion", 0, "must be specified for an update"),
      ]);
    }
    return;
  }
  if (!/^\d+$/.test(resourceVersion)) {
    throw badRequest(`strconv.ParseUint: parsing ${JSON.stringify(resourceVersion)}: invalid syntax`);
  }
  if (resourceVersion === "0" && write.type.strategy.allowUnconditionalUpdate) return;
  if (resourceVersion !== old.metadata.resourceVersion) throw conflict(groupResource(write.type), write.name);
}

/** Puts back what an update may not change, whatever the client sent. */
export function restoreSystemMetadata(meta: ObjectMeta, old: ObjectMeta): void {
  if (meta.uid === undefined) copyField(meta, old, "uid");
  copyField(meta, old, "creationTimestamp");
  // A client that sets it on an object that stays is refused by validation.
  if (old.deletionTimestamp !== undefined) copyField(meta, old, "deletionTimestamp");
  copyField(meta, old, "generation");
  copyField(meta, old, "resourceVersion");
  if (meta.deletionGracePeriodSeconds === undefined) copyField(meta, old, "deletionGracePeriodSeconds");
  delete (meta as Record<string, unknown>)["selfLink"];
}

function copyField<K extends keyof ObjectMeta>(meta: ObjectMeta, old: ObjectMeta, field: K): void {
  const value = old[field];
  if (value === undefined) delete meta[field];
  else meta[field] = value;
}

/** Drops repeated owner references (same uid, or all fields equal), with the warning Kubernetes sends. */
export function dropDuplicateOwners(meta: ObjectMeta, warn: (text: string) => void): void {
  const owners = meta.ownerReferences;
  if (owners === undefined || owners.length < 2) return;
  const seen = new Set<string>();
  const kept = owners.filter((owner) => {
    const key = JSON.stringify([
      owner.apiVersion,
      owner.kind,
      owner.name,
      owner.uid,
      owner.controller,
      owner.blockOwnerDeletion,
    ]);
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
  if (kept.length === owners.length) return;
  const duplicated = owners.find((owner, i) => owners.findIndex((o) => o.uid === owner.uid) !== i);
  warn(
    `.metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: ${duplicated?.uid ?? ""}`,
  );
  meta.ownerReferences = kept;
}

/** Custom resources may carry finalizers without a domain, with a warning. */
export function warnBareFinalizers(
  type: ResourceType,
  meta: ObjectMeta,
  old: ObjectMeta | undefined,
  warn: (text: string) => void,
): void {
  if (type.builtin || meta.finalizers === undefined) return;
  for (const name of meta.finalizers) {
    if (name.includes("/") || STANDARD_FINALIZERS.has(name) || old?.finalizers?.includes(name) === true) continue;
    warn(
      `metadata.finalizers: ${JSON.stringify(name)}: prefer a domain-qualified finalizer name to avoid accidental conflicts with other finalizer writers`,
    );
  }
}

const STANDARD_FINALIZERS = new Set(["orphan", "foregroundDeletion"]);
