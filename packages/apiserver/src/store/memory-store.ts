import { CompactedError, type Store, type StoredBytes, type StoreEntry, StoreError } from "./store.ts";
import { changesOf, type UndoRecord, undo } from "./undo-log.ts";

/** A Store that lives as long as the process: for simulated clusters and tests. Bytes handed in are kept, not copied. */
export function memoryStore(): Store {
  return new MemoryStore();
}

class MemoryStore implements Store {
  readonly #objects = new Map<string, StoredBytes>();
  #log: UndoRecord[] = [];
  #revision = 0;
  #compacted = 0;
  #closed = false;

  load(): ReturnType<Store["load"]> {
    this.#closed = false;
    const objects = undo(this.#objects.values(), [], "");
    return Promise.resolve({ revision: this.#revision, compactedRevision: this.#compacted, objects });
  }

  async commit(entries: StoreEntry[]): Promise<void> {
    if (this.#closed) throw new StoreError("the store is closed", "Open it again with openObjectStore().");
    for (const entry of entries) {
      const { revision, key } = entry;
      this.#log.push({ revision, key, previous: this.#objects.get(key) });
      if (isDeletion(entry)) this.#objects.delete(key);
      else this.#objects.set(key, entry as StoredBytes);
      this.#revision = revision;
    }
  }

  async readAt(revision: number, prefix: string): Promise<StoredBytes[]> {
    const current = [...this.#objects.values()].filter((object) => object.key.startsWith(prefix));
    return undo(current, this.#recordsAfter(revision), prefix);
  }

  async readLog(afterRevision: number): ReturnType<Store["readLog"]> {
    return changesOf(this.#recordsAfter(afterRevision), (key) => this.#objects.get(key));
  }

  async compact(revision: number): Promise<void> {
    if (revision <= this.#compacted) return;
    this.#log = this.#log.filter((record) => record.revision > revision);
    this.#compacted = Math.min(revision, this.#revision);
  }

  backup(): Promise<void> {
    return Promise.reject(
      new StoreError("a memory store has no files to back up", "Start with a data directory to have backups."),
    );
  }

  close(): Promise<void> {
    this.#closed = true;
    return Promise.resolve();
  }

  /** Newest first. */
  #recordsAfter(revision: number): UndoRecord[] {
    if (revision < this.#compacted) throw new CompactedError(this.#compacted);
    const first = this.#log.findLastIndex((record) => record.revision <= revision) + 1;
    return this.#log.slice(first).reverse();
  }
}

/** Keeps the entry instead of its bytes, which are encoded only when history is read. */
function isDeletion(entry: StoreEntry): boolean {
  return entry.deleted ?? entry.bytes === null;
}
