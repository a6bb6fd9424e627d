import type { StoredChange } from "./object-store.types.ts";

/** The newest changes in revision order, at most `capacity` of them. Grows as needed: an idle server holds none. */
export class ChangeRing {
  readonly #capacity: number;
  readonly #changes: StoredChange[] = [];
  /** Index of the oldest change once the ring is full. */
  #head = 0;
  #floorRevision: number;

  constructor(capacity: number, floor: number) {
    this.#capacity = capacity;
    this.#floorRevision = floor;
  }

  /** All changes after this revision are here. */
  floor(): number {
    return this.#floorRevision;
  }

  push(change: StoredChange): void {
    if (this.#changes.length < this.#capacity) {
      this.#changes.push(change);
      return;
    }
    this.#floorRevision = this.#changes[this.#head]?.revision ?? this.#floorRevision;
    this.#changes[this.#head] = change;
    this.#head = (this.#head + 1) % this.#capacity;
  }

  /** Changes after `revision` whose key starts with `prefix`, oldest first. Only meaningful when floor() is not above it. */
  after(revision: number, prefix: string): StoredChange[] {
    const out: StoredChange[] = [];
    for (let i = this.#firstAfter(revision); i < this.#changes.length; i++) {
      const change = this.#at(i);
      if (change?.key.startsWith(prefix) === true) out.push(change);
    }
    return out;
  }

  #at(position: number): StoredChange | undefined {
    return this.#changes[(this.#head + position) % this.#changes.length];
  }

  #firstAfter(revision: number): number {
    let low = 0;
    let high = this.#changes.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#at(middle)?.revision ?? 0) <= revision) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
