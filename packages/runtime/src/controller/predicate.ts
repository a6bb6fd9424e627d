import { deepEqual, type KubeObject } from "@capstan/apimachinery";

/** Decides which changes are worth a reconcile. What is absent lets everything pass. */
export interface Predicate<T extends KubeObject = KubeObject> {
  create?(object: T): boolean;
  update?(object: T, old: T): boolean;
  delete?(object: T): boolean;
}

/** The spec changed: the API server counts metadata.generation up for nothing else. A deletion mark counts as well. */
export const generationChanged: Predicate = {
  update: (object, old) => object.metadata.generation !== old.metadata.generation || deletionMarked(object, old),
};

/** Labels changed. */
export const labelsChanged: Predicate = {
  update: (object, old) => !deepEqual(object.metadata.labels, old.metadata.labels),
};

/** Annotations changed. */
export const annotationsChanged: Predicate = {
  update: (object, old) => !deepEqual(object.metadata.annotations, old.metadata.annotations),
};

/** Anything but the status and bookkeeping changed. */
export const ignoreStatus: Predicate = {
  update: (object, old) => !deepEqual(withoutStatus(object), withoutStatus(old)),
};

/** A label selector as a predicate: passes objects for which `matches` holds, before or after the change. */
export function objectsWhere<T extends KubeObject>(matches: (object: T) => boolean): Predicate<T> {
  return { create: matches, update: (object, old) => matches(object) || matches(old), delete: matches };
}

/** Passes what any of the predicates passes. */
export function anyOf<T extends KubeObject>(...predicates: readonly Predicate<T>[]): Predicate<T> {
  return {
    create: (object) => predicates.some((p) => p.create?.(object) ?? true),
    update: (object, old) => predicates.some((p) => p.update?.(object, old) ?? true),
    delete: (object) => predicates.some((p) => p.delete?.(object) ?? true),
  };
}

/** Passes what all of the predicates pass. */
export function allOf<T extends KubeObject>(...predicates: readonly Predicate<T>[]): Predicate<T> {
  return {
    create: (object) => predicates.every((p) => p.create?.(object) ?? true),
    update: (object, old) => predicates.every((p) => p.update?.(object, old) ?? true),
    delete: (object) => predicates.every((p) => p.delete?.(object) ?? true),
  };
}

function deletionMarked(object: KubeObject, old: KubeObject): boolean {
  return object.metadata.deletionTimestamp !== old.metadata.deletionTimestamp;
}

function withoutStatus(object: KubeObject): object {
  const { resourceVersion: _, managedFields: __, ...metadata } = object.metadata;
  return { ...object, metadata, status: undefined };
}
