import { systemClock } from "@capstan/apimachinery";
import { openLmdbStore, openObjectStore, type StoredChange } from "@capstan/apiserver";

interface Promised {
  key: string;
  value: string;
}

/** Everything a store has acknowledged over many crashes, and the check that nothing was lost. */
export class Ledger {
  readonly #acknowledged = new Map<number, Promised>();
  readonly #recorded = new Map<number, Promised>();
  readonly #newest = new Map<string, { revision: number; value: string }>();
  #lastSeen = 0;

  /** Takes one line of a writer's output; a truncated last line is not an acknowledgement. */
  note(line: string): void {
    const [word, number = "", key = "", value] = line.split(" ");
    const revision = Number(number);
    if (word === "seen") this.#lastSeen = Math.max(this.#lastSeen, revision);
    if (word !== "ack" || value === undefined) return;
    if (this.#acknowledged.has(revision)) throw new Error(`revision ${revision} was given out twice`);
    this.#acknowledged.set(revision, { key, value });
    if ((this.#newest.get(key)?.revision ?? 0) < revision) this.#newest.set(key, { revision, value });
  }

  acknowledgements(): number {
    return this.#acknowledged.size;
  }

  /** Opens the store as after a restart and compares. */
  async check(directory: string): Promise<{ revision: number; objects: number }> {
    // Room for everything that the writers' smaller ring leaves in the log.
    const store = await openObjectStore(await openLmdbStore(directory), { clock: systemClock, ring: 5000 });
    try {
      const revision = store.revision();
      const last = Math.max(this.#lastSeen, ...this.#acknowledged.keys(), 0);
      if (revision < last) throw new Error(`the store is at revision ${revision}, but ${last} had been shown`);
      this.#checkHistory(this.#changesSince(store, revision));
      for (const [key, promised] of this.#newest) {
        const stored = store.get(key);
        if (stored === undefined ? promised.value !== "-" && !this.#deletedLater(key, promised.revision) : false)
          throw new Error(`${key}, acknowledged at revision ${promised.revision}, is missing`);
        if (stored === undefined || stored.revision > promised.revision) continue;
        if (stored.revision < promised.revision || stored.object["value"] !== promised.value)
          throw new Error(`${key} is not what was acknowledged at revision ${promised.revision}`);
      }
      return { revision, objects: store.count("") };
    } finally {
      await store.close();
    }
  }

  /** A watcher that resumes: every revision once and in order. */
  #changesSince(store: Awaited<ReturnType<typeof openObjectStore>>, revision: number): StoredChange[] {
    const changes: StoredChange[] = [];
    const from = store.compactedRevision();
    store.subscribe("", from, (batch) => changes.push(...batch))();
    for (const [i, change] of changes.entries()) {
      if (change.revision !== from + i + 1) throw new Error(`a gap before revision ${change.revision}`);
    }
    if (from + changes.length !== revision) throw new Error(`history ends before revision ${revision}`);
    return changes;
  }

  #checkHistory(changes: readonly StoredChange[]): void {
    for (const { revision, key, current } of changes) {
      const written: Promised = { key, value: current === undefined ? "-" : String(current.object["value"]) };
      for (const known of [this.#acknowledged.get(revision), this.#recorded.get(revision)]) {
        if (known !== undefined && (known.key !== written.key || known.value !== written.value))
          throw new Error(
            `revision ${revision} was ${known.key} ${known.value} and is ${written.key} ${written.value}`,
          );
      }
      this.#recorded.set(revision, written);
    }
  }

  /** Not acknowledged in time but durable: a deletion that the crash cut off before its answer. */
  #deletedLater(key: string, after: number): boolean {
    for (const [revision, written] of this.#recorded) {
      if (revision > after && written.key === key && written.value === "-") return true;
    }
    return false;
  }
}
