import type { KubeObject, Random } from "@capstan/apimachinery";
import type { Cache, Kind } from "@capstan/runtime";
import { type AddressRange, countOf, difference, union } from "./address-ranges.ts";
import { Allocator } from "./allocator.ts";
import { coverOf, type PoolRanges, slotText } from "./slots.ts";

/** Reads pools of one kind. */
export interface PoolReader<P, R extends PoolRanges = PoolRanges> {
  /** One name per pool, the same that `AddressObjects.pool` gives. */
  key(pool: P): string;
  /** Changes whenever the pool's addresses do. */
  version(pool: P): string;
  /** What it has, or what is wrong with its spec. */
  ranges(pool: P): R | { problem: string };
}

/** Reads from objects of one kind which address belongs to which holder. */
export interface AddressObjects<A extends KubeObject> {
  kind: Kind<A>;
  /** The pool the address is from; undefined for pools that are not ours. */
  pool(object: A): string | undefined;
  /** The holder, as in `reserve`. */
  holder(object: A): string;
  /** The address; in pools of prefixes with its length, such as fd00::/64. */
  address(object: A): string;
}

/** The numbers of a pool's status. */
export interface PoolCounts {
  total: bigint;
  free: bigint;
  used: number;
  outOfRange: number;
}

/** A specific address, or a random one; by default the lowest free one. */
export interface Wish {
  address?: string;
  /** The holder that the address is reserved for, if not the claim. */
  keptFor?: string;
  random?: Random;
}

interface Entry<R> {
  version: string;
  addresses: R | { problem: string };
  allocator: Allocator;
  /** How many hold something else than one slot: prefixes of another length than the pool's. */
  odd: number;
}

/**
 * Who holds which address of which pool: all address objects there are, seen through the cache, and those about to be created. An
 * address is reserved in the same step in which it is found free, so that two claims never get the same one; a reservation whose
 * write may or may not have happened stays until the object is seen.
 */
export class AddressBook<P, R extends PoolRanges = PoolRanges> {
  readonly #held = new Map<string, Map<string, string>>();
  readonly #reserved = new Map<string, { pool: string; address: string }>();
  readonly #entries = new Map<string, Entry<R>>();
  readonly #pools: PoolReader<P, R>;
  readonly #onReturn: (pool: string) => void;

  constructor(pools: PoolReader<P, R>, onReturn: (pool: string) => void) {
    this.#pools = pools;
    this.#onReturn = onReturn;
  }

  /** Follows the objects that hold addresses until the signal. */
  follow<A extends KubeObject>(cache: Cache, objects: AddressObjects<A>, signal: AbortSignal): void {
    const tell = (object: A, change: (pool: string, holder: string, address: string) => void): void => {
      const pool = objects.pool(object);
      if (pool !== undefined) change(pool, objects.holder(object), objects.address(object));
    };
    const remove = cache.informer(objects.kind).addHandler({
      add: (object) => tell(object, (...facts) => this.#appeared(...facts)),
      delete: (object) => tell(object, (...facts) => this.#vanished(...facts)),
    });
    signal.addEventListener("abort", remove, { once: true });
  }

  /** Returns the addresses of a pool, or what is wrong with its spec. */
  addresses(pool: P): R | { problem: string } {
    return this.#entry(pool).addresses;
  }

  /** The numbers of a pool. */
  counts(pool: P): PoolCounts {
    const { addresses, allocator, odd } = this.#entry(pool);
    const outOfRange = allocator.outOfRange + odd;
    return {
      total: "problem" in addresses ? 0n : countOf(addresses.ranges),
      free: allocator.free,
      used: allocator.taken + outOfRange,
      outOfRange,
    };
  }

  /** Whether an address of a pool is held or reserved. */
  inUse(pool: P): boolean {
    const key = this.#pools.key(pool);
    return this.#held.has(key) || [...this.#reserved.values()].some((reservation) => reservation.pool === key);
  }

  /** What is held of a pool: holder to address. */
  held(pool: P): ReadonlyMap<string, string> {
    return this.#held.get(this.#pools.key(pool)) ?? new Map();
  }

  /** Reserves an address for a claim, or returns its existing reservation; undefined if none is free. */
  reserve(pool: P, claim: string, wish: Wish = {}): string | undefined {
    const key = this.#pools.key(pool);
    const before = this.#reserved.get(claim);
    if (before?.pool === key) return before.address;
    const { addresses, allocator } = this.#entry(pool);
    if ("problem" in addresses) return undefined;
    const slot = take(allocator, claim, addresses, wish);
    if (slot === undefined) return undefined;
    const address = slotText(slot, addresses);
    this.#reserved.set(claim, { pool: key, address });
    return address;
  }

  /** Releases a reservation for which certainly no object was created. */
  cancel(claim: string): void {
    const reservation = this.#reserved.get(claim);
    if (reservation === undefined) return;
    this.#reserved.delete(claim);
    if (this.#held.get(reservation.pool)?.get(claim) === reservation.address) return;
    this.#free(reservation.pool, reservation.address, claim);
  }

  /** A deleted pool needs no entry. */
  forget(pool: string): void {
    this.#entries.delete(pool);
  }

  #appeared(pool: string, holder: string, address: string): void {
    let held = this.#held.get(pool);
    if (held === undefined) {
      held = new Map();
      this.#held.set(pool, held);
    }
    held.set(holder, address);
    this.#note(pool, address, (allocator, slot) => allocator.hold(slot, holder));
    const reservation = this.#reserved.get(holder);
    if (reservation === undefined) return;
    this.#reserved.delete(holder);
    // Another client created the object, with another address than the reserved one.
    if (reservation.address !== address || reservation.pool !== pool)
      this.#free(reservation.pool, reservation.address, holder);
  }

  #vanished(pool: string, holder: string, address: string): void {
    const held = this.#held.get(pool);
    if (held?.get(holder) === address && held.delete(holder) && held.size === 0) this.#held.delete(pool);
    this.#free(pool, address, holder);
  }

  #free(pool: string, address: string, holder: string): void {
    this.#note(pool, address, (allocator, slot) => allocator.release(slot, holder));
    this.#onReturn(pool);
  }

  /** An address that is not exactly one slot occupies all slots it touches; it is so rare that the pool's entry is rebuilt. */
  #note(pool: string, address: string, change: (allocator: Allocator, slot: bigint) => void): void {
    const entry = this.#entries.get(pool);
    if (entry === undefined) return;
    const { first, exact } = coverOf(address, entry.addresses);
    if (exact) change(entry.allocator, first);
    else this.#entries.delete(pool);
  }

  /** Rebuilds the entry when the pool changes, from held and reserved addresses. */
  #entry(pool: P): Entry<R> {
    const key = this.#pools.key(pool);
    const version = this.#pools.version(pool);
    const known = this.#entries.get(key);
    if (known?.version === version) return known;
    const addresses = this.#pools.ranges(pool);
    const slots: { holder: string; slot: bigint }[] = [];
    const odd: AddressRange[] = [];
    const hold = (holder: string, address: string): void => {
      const cover = coverOf(address, addresses);
      if (cover.exact) slots.push({ holder, slot: cover.first });
      else odd.push(cover);
    };
    if (!("problem" in addresses)) for (const [holder, address] of addresses.kept ?? []) hold(keeper(holder), address);
    for (const [holder, address] of this.#held.get(key) ?? []) hold(holder, address);
    for (const [holder, reservation] of this.#reserved) if (reservation.pool === key) hold(holder, reservation.address);
    const ranges = "problem" in addresses ? [] : addresses.ranges;
    const allocator = new Allocator(odd.length === 0 ? ranges : difference(ranges, union(odd)));
    for (const { holder, slot } of slots) allocator.hold(slot, holder);
    const entry: Entry<R> = { version, addresses, allocator, odd: odd.length };
    this.#entries.set(key, entry);
    return entry;
  }
}

/** Holder of addresses that are reserved for a later holder. */
const keeper = (holder: string): string => `kept for ${holder}`;

function take(allocator: Allocator, claim: string, pool: PoolRanges, wish: Wish): bigint | undefined {
  if (wish.address !== undefined) {
    const { first, exact } = coverOf(wish.address, pool);
    return exact && allocator.takeAt(first, claim, keeper(wish.keptFor ?? claim)) ? first : undefined;
  }
  return wish.random === undefined ? allocator.take(claim) : allocator.takeAny(claim, wish.random);
}
