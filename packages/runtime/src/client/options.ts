import type { KubeObject, Status, Unstructured } from "@capstan/apimachinery";
import type { Kind, KindRef, ObjectKey } from "../kind.ts";

/** Selects the objects to list. */
export interface ListOptions {
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
  /** At most this many, with a continue token. Without a limit all are read, in pages. */
  readonly limit?: number | undefined;
  /** The token of an earlier answer. */
  readonly continue?: string | undefined;
}

/** Listed objects with the resource version of the list. */
export interface ListResult<T extends KubeObject = Unstructured> {
  readonly items: T[];
  readonly resourceVersion: string;
  readonly continue?: string;
}

/** Selects the changes to watch. */
export interface WatchOptions extends ListOptions {
  readonly resourceVersion?: string | undefined;
  readonly bookmarks?: boolean | undefined;
  readonly sendInitialEvents?: boolean | undefined;
  readonly timeoutSeconds?: number | undefined;
}

/** Options of all writes. */
export interface WriteOptions {
  readonly fieldManager?: string | undefined;
  readonly dryRun?: boolean | undefined;
}

/** Options of a patch. */
export interface PatchOptions extends WriteOptions {
  readonly type?: "merge" | "json" | "strategic" | undefined;
  readonly subresource?: string | undefined;
}

/** Options of a server-side apply. */
export interface ApplyOptions extends WriteOptions {
  /** Take fields over from other managers; true unless false. */
  readonly force?: boolean | undefined;
  readonly subresource?: string | undefined;
}

/** Options of a deletion. */
export interface DeleteOptions {
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string } | undefined;
  readonly propagationPolicy?: "Background" | "Foreground" | "Orphan" | undefined;
  readonly gracePeriodSeconds?: number | undefined;
  readonly dryRun?: boolean | undefined;
}

/** A merge patch, or the operations of a JSON patch. */
export type Patch = object | readonly object[];

/** Refers to an object without holding it: `{ kind: Machine, namespace, name }`. */
export interface Ref<T extends KubeObject = Unstructured> extends ObjectKey {
  readonly kind: Kind<T>;
}

/** An object, or a reference to one. */
export type Target<T extends KubeObject> = T | Ref<T>;

/** Observes writes as soon as the server has answered, before their promises resolve. */
export interface WriteObserver {
  written(kind: KindRef, object: KubeObject): void;
  /** The object as it is after a delete that finalizers delay, or the Status of its deletion. */
  deleted(kind: KindRef, key: ObjectKey, answer: KubeObject | Status): void;
}
