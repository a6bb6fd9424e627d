import { resourceOf } from "./keys.ts";
import type { StoredObject } from "./object-store.types.ts";

interface Cell {
  readonly key: string;
  readonly bucket: Bucket;
  /** Undefined once deleted; such cells leave the sorted array at the next list. */
  stored: StoredObject | undefined;
}

interface Bucket {
  readonly resource: string;
  sorted: Cell[];
  /** New since the last list, in any order. */
  added: Cell[];
  dead: number;
  live: number;
}

/**
 * Current objects by key, and per resource in key order. A write costs no more than a map operation; the order is restored by
 * the next list, which sorts only what was added since. Keys are compared as strings, which for them equals byte order.
 */
export class ResourceIndex {
  readonly #cells = new Map<string, Cell>();
  readonly #buckets = new Map<string, Bucket>();

  get(key: string): StoredObject | undefined {
    return this.#cells.get(key)?.stored;
  }

  set(stored: StoredObject): void {
    const existing = this.#cells.get(stored.key);
    if (existing !== undefined) {
      existing.stored = stored;
      return;
    }
    const bucket = this.#bucketFor(resourceOf(stored.key) ?? "");
    const cell: Cell = { key: stored.key, bucket, stored };
    this.#cells.set(stored.key, cell);
    bucket.added.push(cell);
    bucket.live++;
  }

  delete(key: string): void {
    const cell = this.#cells.get(key);
    if (cell === undefined) return;
    this.#cells.delete(key);
    cell.stored = undefined;
    cell.bucket.dead++;
    cell.bucket.live--;
  }

  /** A private array of all objects whose key starts with `prefix`, in key order. */
  list(prefix: string): StoredObject[] {
    const resource = resourceOf(prefix);
    if (resource === undefined) return this.#bucketsUnder(prefix).flatMap((bucket) => collect(bucket, ""));
    const bucket = this.#buckets.get(resource);
    if (bucket === undefined) return [];
    return collect(bucket, prefix.length === resource.length + 1 ? "" : prefix);
  }

  count(prefix: string): number {
    const resource = resourceOf(prefix);
    if (resource === undefined) return this.#bucketsUnder(prefix).reduce((sum, bucket) => sum + bucket.live, 0);
    const bucket = this.#buckets.get(resource);
    if (bucket === undefined) return 0;
    if (prefix.length === resource.length + 1) return bucket.live;
    tidy(bucket);
    return rangeEnd(bucket.sorted, prefix) - lowerBound(bucket.sorted, prefix);
  }

  #bucketFor(resource: string): Bucket {
    let bucket = this.#buckets.get(resource);
    if (bucket === undefined) {
      bucket = { resource, sorted: [], added: [], dead: 0, live: 0 };
      this.#buckets.set(resource, bucket);
    }
    return bucket;
  }

  #bucketsUnder(prefix: string): Bucket[] {
    return [...this.#buckets.values()]
      .filter((bucket) => `${bucket.resource}/`.startsWith(prefix))
      .sort((a, b) => (`${a.resource}/` < `${b.resource}/` ? -1 : 1));
  }
}

function collect(bucket: Bucket, prefix: string): StoredObject[] {
  tidy(bucket);
  const { sorted } = bucket;
  const start = prefix === "" ? 0 : lowerBound(sorted, prefix);
  const end = prefix === "" ? sorted.length : rangeEnd(sorted, prefix);
  const out: StoredObject[] = [];
  for (let i = start; i < end; i++) {
    const stored = sorted[i]?.stored;
    if (stored !== undefined) out.push(stored);
  }
  return out;
}

/** Brings `sorted` up to date: without deleted cells, with added ones in their places. */
function tidy(bucket: Bucket): void {
  if (bucket.dead > 0) {
    bucket.sorted = bucket.sorted.filter((cell) => cell.stored !== undefined);
    bucket.added = bucket.added.filter((cell) => cell.stored !== undefined);
    bucket.dead = 0;
  }
  if (bucket.added.length === 0) return;
  const added = bucket.added.sort((a, b) => (a.key < b.key ? -1 : 1));
  bucket.added = [];
  bucket.sorted = merge(bucket.sorted, added);
}

function merge(a: Cell[], b: Cell[]): Cell[] {
  const lastOfA = a.at(-1);
  const firstOfB = b[0];
  if (lastOfA === undefined || (firstOfB !== undefined && lastOfA.key < firstOfB.key)) {
    for (const cell of b) a.push(cell);
    return a;
  }
  const out: Cell[] = [];
  let i = 0;
  for (const cell of b) {
    for (let next = a[i]; next !== undefined && next.key < cell.key; next = a[i]) {
      out.push(next);
      i++;
    }
    out.push(cell);
  }
  for (; i < a.length; i++) {
    const next = a[i];
    if (next !== undefined) out.push(next);
  }
  return out;
}

/** Index of the first cell whose key is not before `key`. */
function lowerBound(sorted: readonly Cell[], key: string): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle]?.key ?? "") < key) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Index after the last cell whose key starts with `prefix`, which ends with a slash: "0" is the character after it. */
function rangeEnd(sorted: readonly Cell[], prefix: string): number {
  return lowerBound(sorted, `${prefix.slice(0, -1)}0`);
}
