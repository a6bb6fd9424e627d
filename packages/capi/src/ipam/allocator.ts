import { type Random, randomFloat } from "@capstan/apimachinery";
import { type AddressRange, countOf } from "./address-ranges.ts";

/** How many random addresses are tried. */
const ATTEMPTS = 32;

/** A range and the rank of its first address: ranks count all addresses of the pool in the order they are given away. */
interface RankedRange extends AddressRange {
  rank: bigint;
}

/**
 * Gives away the first free address, in the order of the ranges. All addresses below a cursor are taken or in a heap of returned
 * ones, so that taking and returning cost the logarithm of what was returned, however large the pool is.
 */
export class Allocator {
  /** Ranges that do not overlap, in the order they are used up. */
  readonly ranges: readonly AddressRange[];
  readonly total: bigint;
  readonly #inOrder: readonly RankedRange[];
  readonly #byAddress: readonly RankedRange[];
  /** Who holds an address: normally one, more only after a fault. */
  readonly #holders = new Map<bigint, Set<string>>();
  /** Ranks below the cursor that are free again. */
  readonly #returned: bigint[] = [];
  #cursor = 0n;
  #taken = 0;

  constructor(ranges: readonly AddressRange[]) {
    this.ranges = ranges;
    this.total = countOf(ranges);
    let rank = 0n;
    this.#inOrder = ranges.map(({ first, last }) => {
      const ranked = { first, last, rank };
      rank += last - first + 1n;
      return ranked;
    });
    this.#byAddress = [...this.#inOrder].sort((a, b) => (a.first < b.first ? -1 : 1));
  }

  /** Number of held addresses of the pool. */
  get taken(): number {
    return this.#taken;
  }

  /** Number of held addresses outside of the pool. */
  get outOfRange(): number {
    return this.#holders.size - this.#taken;
  }

  get free(): bigint {
    return this.total - BigInt(this.#taken);
  }

  /** Records a holder of an address. */
  hold(address: bigint, holder: string): void {
    const holders = this.#holders.get(address);
    if (holders !== undefined) {
      holders.add(holder);
      return;
    }
    this.#holders.set(address, new Set([holder]));
    if (this.#rankOf(address) !== undefined) this.#taken++;
  }

  /** Removes a holder of an address. */
  release(address: bigint, holder: string): void {
    const holders = this.#holders.get(address);
    if (holders?.delete(holder) !== true || holders.size > 0) return;
    this.#holders.delete(address);
    const rank = this.#rankOf(address);
    if (rank === undefined) return;
    this.#taken--;
    if (rank < this.#cursor) push(this.#returned, rank);
  }

  /** Takes the first free address for a holder; undefined if none is left. */
  take(holder: string): bigint | undefined {
    const address = this.#firstReturned() ?? this.#advance();
    if (address !== undefined) this.hold(address, holder);
    return address;
  }

  /** Takes a specific address; false if it is not in the pool or has a holder other than `ally`. */
  takeAt(address: bigint, holder: string, ally?: string): boolean {
    const others = [...(this.#holders.get(address) ?? [])].filter((other) => other !== holder && other !== ally);
    if (others.length > 0 || this.#rankOf(address) === undefined) return false;
    this.hold(address, holder);
    return true;
  }

  /** Takes a random free address; the first free one if several random tries fail, as in a nearly exhausted pool. */
  takeAny(holder: string, random: Random): bigint | undefined {
    for (let attempt = 0; attempt < ATTEMPTS && this.free > 0n; attempt++) {
      const address = this.#at(below(this.total, random));
      if (address === undefined || this.#holders.has(address)) continue;
      this.hold(address, holder);
      return address;
    }
    return this.take(holder);
  }

  #firstReturned(): bigint | undefined {
    for (;;) {
      const rank = pop(this.#returned);
      const address = rank === undefined ? undefined : this.#at(rank);
      // One that was returned may have been taken since, by a restored object.
      if (address === undefined || !this.#holders.has(address)) return address;
    }
  }

  #advance(): bigint | undefined {
    while (this.#cursor < this.total) {
      const address = this.#at(this.#cursor++);
      if (address !== undefined && !this.#holders.has(address)) return address;
    }
    return undefined;
  }

  #rankOf(address: bigint): bigint | undefined {
    const range = lastWhere(this.#byAddress, ({ first }) => first <= address);
    return range === undefined || address > range.last ? undefined : range.rank + address - range.first;
  }

  #at(rank: bigint): bigint | undefined {
    const range = lastWhere(this.#inOrder, (candidate) => candidate.rank <= rank);
    return range === undefined ? undefined : range.first + rank - range.rank;
  }
}

/** The last of sorted ranges that fulfils what all before it fulfil. */
function lastWhere(ranges: readonly RankedRange[], holds: (range: RankedRange) => boolean): RankedRange | undefined {
  let low = 0;
  let high = ranges.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const range = ranges[middle];
    if (range !== undefined && holds(range)) low = middle + 1;
    else high = middle;
  }
  return ranges[low - 1];
}

/** A number from 0 up to, but without, the bound. */
function below(bound: bigint, random: Random): bigint {
  const scale = 1n << 32n;
  let value = 0n;
  for (let size = bound; size > 0n; size /= scale)
    value = value * scale + BigInt(Math.floor(randomFloat(random) * 2 ** 32));
  return value % bound;
}

function push(heap: bigint[], value: bigint): void {
  let index = heap.push(value) - 1;
  while (index > 0) {
    const parent = (index - 1) >> 1;
    const above = heap[parent];
    if (above === undefined || above <= value) break;
    heap[index] = above;
    index = parent;
  }
  heap[index] = value;
}

function pop(heap: bigint[]): bigint | undefined {
  const lowest = heap[0];
  const last = heap.pop();
  if (last === undefined || heap.length === 0) return lowest;
  let index = 0;
  for (;;) {
    const left = 2 * index + 1;
    const right = left + 1;
    let child = left;
    if (left >= heap.length) break;
    if (right < heap.length && (heap[right] ?? 0n) < (heap[left] ?? 0n)) child = right;
    const value = heap[child];
    if (value === undefined || value >= last) break;
    heap[index] = value;
    index = child;
  }
  heap[index] = last;
  return lowest;
}
