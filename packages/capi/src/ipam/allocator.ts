import { type Random, randomFloat } from "@capstan/apimachinery";
import { type AddressRange, contains, countOf } from "./address-ranges.ts";

/** How often chance is asked for a free address. */
const ATTEMPTS = 32;

/**
 * Gives away the lowest free address. All addresses below a cursor are taken or in a heap of returned ones, so that taking and
 * returning cost the logarithm of what was returned, however large the pool is.
 */
export class Allocator {
  readonly ranges: readonly AddressRange[];
  readonly total: bigint;
  /** Who holds an address: normally one, more only after a fault. */
  readonly #holders = new Map<bigint, Set<string>>();
  readonly #returned: bigint[] = [];
  #range = 0;
  #cursor: bigint;
  #taken = 0;

  constructor(ranges: readonly AddressRange[]) {
    this.ranges = ranges;
    this.total = countOf(ranges);
    this.#cursor = ranges[0]?.first ?? 0n;
  }

  /** Addresses of the pool that somebody holds. */
  get taken(): number {
    return this.#taken;
  }

  /** Addresses held that the pool does not have. */
  get outOfRange(): number {
    return this.#holders.size - this.#taken;
  }

  get free(): bigint {
    return this.total - BigInt(this.#taken);
  }

  /** Notes that somebody holds an address. */
  hold(address: bigint, holder: string): void {
    const holders = this.#holders.get(address);
    if (holders !== undefined) {
      holders.add(holder);
      return;
    }
    this.#holders.set(address, new Set([holder]));
    if (contains(this.ranges, address)) this.#taken++;
  }

  /** Notes that somebody does not hold an address any more. */
  release(address: bigint, holder: string): void {
    const holders = this.#holders.get(address);
    if (holders?.delete(holder) !== true || holders.size > 0) return;
    this.#holders.delete(address);
    if (!contains(this.ranges, address)) return;
    this.#taken--;
    if (this.#isPassed(address)) push(this.#returned, address);
  }

  /** Takes the lowest free address for somebody; undefined when none is left. */
  take(holder: string): bigint | undefined {
    const address = this.#lowestReturned() ?? this.#advance();
    if (address !== undefined) this.hold(address, holder);
    return address;
  }

  /** Takes a certain address; false when it is not in the pool or somebody else than `ally` holds it. */
  takeAt(address: bigint, holder: string, ally?: string): boolean {
    const others = [...(this.#holders.get(address) ?? [])].filter((other) => other !== holder && other !== ally);
    if (others.length > 0 || !contains(this.ranges, address)) return false;
    this.hold(address, holder);
    return true;
  }

  /** Takes some free address by chance; the lowest when chance finds none soon, as in a pool that is nearly empty. */
  takeAny(holder: string, random: Random): bigint | undefined {
    for (let attempt = 0; attempt < ATTEMPTS && this.free > 0n; attempt++) {
      const address = nth(this.ranges, below(this.total, random));
      if (address === undefined || this.#holders.has(address)) continue;
      this.hold(address, holder);
      return address;
    }
    return this.take(holder);
  }

  #isPassed(address: bigint): boolean {
    const range = this.ranges[this.#range];
    return range === undefined || address < this.#cursor;
  }

  #lowestReturned(): bigint | undefined {
    for (;;) {
      const address = pop(this.#returned);
      // One that was returned may have been taken since, by an object that somebody restored.
      if (address === undefined || !this.#holders.has(address)) return address;
    }
  }

  #advance(): bigint | undefined {
    for (let range = this.ranges[this.#range]; range !== undefined; range = this.ranges[++this.#range]) {
      if (this.#cursor < range.first) this.#cursor = range.first;
      while (this.#cursor <= range.last) {
        const address = this.#cursor++;
        if (!this.#holders.has(address)) return address;
      }
    }
    return undefined;
  }
}

/** A number from 0 up to, but without, the bound. */
function below(bound: bigint, random: Random): bigint {
  const scale = 1n << 32n;
  let value = 0n;
  for (let size = bound; size > 0n; size /= scale)
    value = value * scale + BigInt(Math.floor(randomFloat(random) * 2 ** 32));
  return value % bound;
}

function nth(ranges: readonly AddressRange[], index: bigint): bigint | undefined {
  let left = index;
  for (const { first, last } of ranges) {
    const size = last - first + 1n;
    if (left < size) return first + left;
    left -= size;
  }
  return undefined;
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
