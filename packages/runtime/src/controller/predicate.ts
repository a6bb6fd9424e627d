import { deepEqual, type KubeObject } from "@capstan/apimachinery";

/** Decides which changes trigger a reconcile. A missing function accepts every change. */
export interface Predicate<T extends KubeObject = KubeObject> {
  create?(object: T): boolean;
  update?(object: T, old: T): boolean;
  delete?(object: T): boolean;
}

/** Accepts changes of metadata.generation, which the API server increments for spec changes only, and a new deletion timestamp. */
export const generationChanged: Predicate = {
  update: (object, old) => object.metadata.generation !== old.metadata.generation || deletionMarked(object, old),
};

/** Accepts changes of labels. */
export const labelsChanged: Predicate = {
  update: (object, old) => !deepEqual(object.metadata.labels, old.metadata.labels),
};

/** Accepts changes of annotations. */
export const annotationsChanged: Predicate = {
  update: (object, old) => !deepEqual(object.metadata.annotations, old.metadata.annotations),
};

/** Accepts changes of anything but the status and server-side bookkeeping. */
export const ignoreStatus: Predicate = {
  update: (object, old) => !deepEqual(withoutStatus(object), withoutStatus(old)),
};

/** Accepts changes of objects for which `matches` holds before or after the change. */
export function objectsWhere<T extends KubeObject>(matches: (object: T) => boolean): Predicate<T> {
  return { create: matches, update: (object, old) => matches(object) || matches(old), delete: matches };
}

/** Accepts what any of the predicates accepts. */
export function anyOf<T extends KubeObject>(...predicates: readonly Predicate<T>[]): Predicate<T> {
  return {
    create: (object) => predicates.some((p) => p.create?.(object) ?? true),
    update: (object, old) => predicates.some((p) => p.update?.(object, old) ?? true),
    delete: (object) => predicates.some((p) => p.delete?.(object) ?? true),
  };
}

/** Accepts what all of the predicates accept. */
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
