import type { LoggedEntry, StoredBytes } from "./store.ts";

/**
 * One record of history: what a change replaced. Undoing from the newest record back gives any older state, so that records can be
 * dropped from the old end at any time, and a creation costs no second copy of the object.
 */
export interface UndoRecord {
  revision: number;
  key: string;
  previous: StoredBytes | undefined;
}

/** State under `prefix` before all of `newestFirst`, in key order. `current` is the state now and is not changed. */
export function undo(current: Iterable<StoredBytes>, newestFirst: Iterable<UndoRecord>, prefix: string): StoredBytes[] {
  const state = new Map<string, StoredBytes>();
  for (const object of current) state.set(object.key, object);
  for (const record of newestFirst) {
    if (!record.key.startsWith(prefix)) continue;
    if (record.previous === undefined) state.delete(record.key);
    else state.set(record.key, record.previous);
  }
  return [...state.values()].sort((a, b) => (a.key < b.key ? -1 : 1));
}

/** The changes themselves, oldest first: what a record's change wrote is what the next change of that key replaced. */
export function changesOf(
  newestFirst: Iterable<UndoRecord>,
  currentOf: (key: string) => StoredBytes | undefined,
): LoggedEntry[] {
  const later = new Map<string, StoredBytes | undefined>();
  const out: LoggedEntry[] = [];
  for (const { revision, key, previous } of newestFirst) {
    const written = later.has(key) ? later.get(key) : currentOf(key);
    later.set(key, previous);
    const bytes = written?.bytes ?? null;
    out.push(previous === undefined ? { revision, key, bytes } : { revision, key, bytes, previous });
  }
  return out.reverse();
}
