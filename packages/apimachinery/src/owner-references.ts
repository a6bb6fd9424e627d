import { parseGroupVersion } from "./gvk.ts";
import type { KubeObject, OwnerReference } from "./object.ts";

/** The reference to the object's controller, if it has one. */
export function controllerOf(object: KubeObject): OwnerReference | undefined {
  return object.metadata.ownerReferences?.find((r) => r.controller === true);
}

/** Whether the object is owned by `owner`, recognised by its uid. */
export function hasOwner(object: KubeObject, owner: KubeObject): boolean {
  const { uid } = owner.metadata;
  return uid !== undefined && (object.metadata.ownerReferences ?? []).some((r) => r.uid === uid);
}

/** A reference to `owner`; a controller reference also blocks the owner's foreground deletion. */
export function ownerReference(
  owner: KubeObject,
  options: { controller?: boolean; block?: boolean } = {},
): OwnerReference {
  const { apiVersion, kind, metadata } = owner;
  const { controller = false, block = controller } = options;
  return {
    apiVersion,
    kind,
    name: metadata.name ?? "",
    uid: metadata.uid ?? "",
    ...(controller ? { controller } : {}),
    ...(block ? { blockOwnerDeletion: true } : {}),
  };
}

/** The references with one added or brought up to date; the same array when nothing changes. Versions of a group are one kind. */
export function addOwnerReference(
  references: readonly OwnerReference[] | undefined,
  added: OwnerReference,
): readonly OwnerReference[] {
  const list = references ?? [];
  const index = list.findIndex((r) => sameOwner(r, added));
  if (index < 0) return [...list, added];
  const old = list[index];
  const same =
    old !== undefined &&
    old.apiVersion === added.apiVersion &&
    old.uid === added.uid &&
    old.controller === added.controller &&
    old.blockOwnerDeletion === added.blockOwnerDeletion;
  return same ? list : list.with(index, added);
}

/** The references without those to one owner; the same array when there was none. */
export function removeOwnerReference(
  references: readonly OwnerReference[] | undefined,
  owner: OwnerReference,
): readonly OwnerReference[] {
  const list = references ?? [];
  const kept = list.filter((r) => !sameOwner(r, owner));
  return kept.length === list.length ? list : kept;
}

function sameOwner(a: OwnerReference, b: OwnerReference): boolean {
  return a.kind === b.kind && a.name === b.name && groupOf(a.apiVersion) === groupOf(b.apiVersion);
}

function groupOf(apiVersion: string): string {
  return parseGroupVersion(apiVersion).group;
}
