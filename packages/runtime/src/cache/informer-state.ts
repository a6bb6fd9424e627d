import type { KubeObject, Status, WatchEvent } from "@capstan/apimachinery";
import { keyOf, keyText, type ObjectKey } from "../kind.ts";
import { IndexedStore } from "./indexed-store.ts";
import { compareResourceVersions, notNewer } from "./resource-version.ts";

/** Receives changes in order. `initial` marks objects that existed when the handler was added or the informer started. */
export interface InformerHandler<T extends KubeObject> {
  add?(object: T, initial: boolean): void;
  update?(object: T, old: T): void;
  delete?(object: T): void;
}

/**
 * The state of an informer, and how lists, watch events and own writes change it; without I/O or time. Three rules keep it correct in
 * whatever order these arrive:
 * - an object never returns to an older revision, so duplicate or late events change nothing;
 * - an own write is stored at once if the watch has not caught up, so a controller always reads what it wrote;
 * - an own deletion leaves a tombstone until the watch confirms it, so a late event cannot bring the object back.
 */
export class InformerState<T extends KubeObject> {
  readonly store = new IndexedStore<T>();
  readonly #dispatch: Dispatch<T>;
  readonly #tombstones = new Set<string>();
  #revision: string | undefined;
  /** How much text the watch has sent since the last list, where that is counted. */
  receivedBytes = 0;

  constructor(dispatch: Dispatch<T>) {
    this.#dispatch = dispatch;
  }

  /** How far the list or watch has come; undefined before the first list and after the history was lost. */
  get revision(): string | undefined {
    return this.#revision;
  }

  /** One ADDED, MODIFIED or DELETED of the watch. */
  event(type: WatchEvent["type"], object: T): void {
    this.#revision = object.metadata.resourceVersion ?? this.#revision;
    if (type === "DELETED") this.#gone(object);
    else this.#seen(object, false);
  }

  /** A bookmark. */
  bookmark(revision: string | undefined): void {
    if (revision !== undefined && revision !== "") this.#revision = revision;
  }

  /** A complete list at a revision: objects missing from it were deleted, unless we wrote them after the list was made. */
  replace(items: readonly T[], revision: string, initial: boolean): void {
    const previous = this.#revision;
    const order = compareResourceVersions(revision, previous);
    // A list at an older revision than already seen: the server lost its data (restored or emptied). It alone is right now.
    const reset = order !== undefined && order < 0;
    this.#revision = revision;
    this.receivedBytes = 0;
    const present = new Set<string>();
    const uids = new Set<string>();
    for (const item of items) {
      present.add(keyOf(item));
      if (item.metadata.uid !== undefined) uids.add(item.metadata.uid);
    }
    for (const key of this.store.keys()) {
      if (present.has(key)) continue;
      const object = this.store.get(key);
      if (object === undefined) continue;
      if (!reset && previous !== undefined && !notNewer(object.metadata.resourceVersion, revision)) continue;
      this.store.remove(key);
      this.#dispatch.delete(object);
    }
    for (const uid of this.#tombstones) if (reset || !uids.has(uid)) this.#tombstones.delete(uid);
    for (const item of items) this.#seen(item, initial, reset);
  }

  /** The answer to a write of our own. */
  written(object: T): void {
    // The watch is already past this write: what the store has, or the absence, is at least as new.
    const order = compareResourceVersions(object.metadata.resourceVersion, this.#revision);
    if (order === undefined || order <= 0) return;
    this.#seen(object, false);
  }

  /** The answer to a delete of our own. */
  deleted(key: ObjectKey, answer: T | Status): void {
    if (!isStatusAnswer(answer) && isHeldByFinalizers(answer)) {
      this.written(answer);
      return;
    }
    const uid = isStatusAnswer(answer) ? answer.details?.uid : answer.metadata.uid;
    const stored = this.store.get(keyText(key.namespace, key.name));
    if (stored === undefined || uid === undefined || stored.metadata.uid !== uid) return;
    this.#tombstones.add(uid);
    this.store.remove(keyOf(stored));
    this.#dispatch.delete(stored);
  }

  #seen(object: T, initial: boolean, force = false): void {
    const uid = object.metadata.uid;
    if (uid !== undefined && this.#tombstones.has(uid)) return;
    const old = this.store.get(keyOf(object));
    if (old === undefined) {
      this.store.put(object);
      this.#dispatch.add(object, initial);
      return;
    }
    const sameUid = old.metadata.uid === uid;
    const stale = notNewer(object.metadata.resourceVersion, old.metadata.resourceVersion);
    if (stale && !(force && object.metadata.resourceVersion !== old.metadata.resourceVersion)) return;
    this.store.put(object);
    if (sameUid) this.#dispatch.update(object, old);
    else {
      // Deleted and made again between two looks: two objects, so two events.
      this.#dispatch.delete(old);
      this.#dispatch.add(object, false);
    }
  }

  #gone(object: T): void {
    const uid = object.metadata.uid;
    if (uid !== undefined) this.#tombstones.delete(uid);
    const old = this.store.get(keyOf(object));
    if (old === undefined || (uid !== undefined && old.metadata.uid !== uid)) return;
    this.store.remove(keyOf(object));
    this.#dispatch.delete(object);
  }
}

/** Receives the changes that an InformerState computes. */
export interface Dispatch<T extends KubeObject> {
  add(object: T, initial: boolean): void;
  update(object: T, old: T): void;
  delete(object: T): void;
}

function isStatusAnswer(answer: KubeObject | Status): answer is Status {
  return answer.kind === "Status";
}

function isHeldByFinalizers(object: KubeObject): boolean {
  const { deletionTimestamp, finalizers, deletionGracePeriodSeconds } = object.metadata;
  return deletionTimestamp !== undefined && ((finalizers?.length ?? 0) > 0 || (deletionGracePeriodSeconds ?? 0) > 0);
}
