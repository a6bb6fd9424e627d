import { IPAddress } from "@capstan/capi";
import { type Cache, keyText } from "@capstan/runtime";
import { addressText, parseAddress } from "./address-ranges.ts";
import { Allocator } from "./allocator.ts";
import { type PoolAddresses, poolAddresses } from "./pool-addresses.ts";
import { type Pool, poolKeyOf } from "./pools.ts";

interface Entry {
  /** The pool's addresses as of this generation. */
  version: string;
  addresses: PoolAddresses | { problem: string };
  allocator: Allocator;
}

/** The numbers of a pool's status. */
export interface PoolCounts {
  total: bigint;
  free: bigint;
  used: number;
  outOfRange: number;
}

/**
 * Who holds which address of which pool: all IPAddresses there are, seen through the cache, and those about to be created. An
 * address is reserved in the same step in which it is found free, so that two claims never get the same one; a reservation whose
 * write may or may not have happened stays until the object is seen.
 */
export class PoolBook {
  readonly #held = new Map<string, Map<string, string>>();
  readonly #reserved = new Map<string, { pool: string; address: string }>();
  readonly #entries = new Map<string, Entry>();
  readonly #onReturn: (pool: string) => void;

  constructor(cache: Cache, signal: AbortSignal, onReturn: (pool: string) => void) {
    this.#onReturn = onReturn;
    const remove = cache.informer(IPAddress).addHandler({
      add: (object) => this.#appeared(object),
      delete: (object) => this.#vanished(object),
    });
    signal.addEventListener("abort", remove, { once: true });
  }

  /** What a pool has to give, or what is wrong with its spec. */
  addresses(pool: Pool): PoolAddresses | { problem: string } {
    return this.#entry(pool).addresses;
  }

  /** The numbers of a pool. */
  counts(pool: Pool): PoolCounts {
    const { allocator } = this.#entry(pool);
    return {
      total: allocator.total,
      free: allocator.free,
      used: allocator.taken + allocator.outOfRange,
      outOfRange: allocator.outOfRange,
    };
  }

  /** Reserves the lowest free address for a claim, or the one it reserved before; undefined when none is left. */
  reserve(pool: Pool, claim: string): string | undefined {
    const key = poolKeyOf(pool);
    const before = this.#reserved.get(claim);
    if (before?.pool === key) return before.address;
    const entry = this.#entry(pool);
    if ("problem" in entry.addresses) return undefined;
    const value = entry.allocator.take(claim);
    if (value === undefined) return undefined;
    const address = addressText(value, entry.addresses.family);
    this.#reserved.set(claim, { pool: key, address });
    return address;
  }

  /** Gives a reservation back of which it is certain that no object was made. */
  cancel(claim: string): void {
    const reservation = this.#reserved.get(claim);
    if (reservation === undefined) return;
    this.#reserved.delete(claim);
    if (this.#held.get(reservation.pool)?.get(claim) === reservation.address) return;
    this.#free(reservation.pool, reservation.address, claim);
  }

  #appeared(object: IPAddress): void {
    const pool = poolOf(object);
    const holder = keyText(object.metadata.namespace, object.metadata.name ?? "");
    let held = this.#held.get(pool);
    if (held === undefined) {
      held = new Map();
      this.#held.set(pool, held);
    }
    held.set(holder, object.spec.address);
    const entry = this.#entries.get(pool);
    if (entry !== undefined) entry.allocator.hold(valueOf(object.spec.address, entry.addresses), holder);
    const reservation = this.#reserved.get(holder);
    if (reservation === undefined) return;
    this.#reserved.delete(holder);
    // Somebody else made the object, with another address than the one kept for it.
    if (reservation.address !== object.spec.address || reservation.pool !== pool)
      this.#free(reservation.pool, reservation.address, holder);
  }

  #vanished(object: IPAddress): void {
    const pool = poolOf(object);
    const holder = keyText(object.metadata.namespace, object.metadata.name ?? "");
    const held = this.#held.get(pool);
    if (held?.delete(holder) === true && held.size === 0) this.#held.delete(pool);
    this.#free(pool, object.spec.address, holder);
  }

  #free(pool: string, address: string, holder: string): void {
    const entry = this.#entries.get(pool);
    if (entry !== undefined) entry.allocator.release(valueOf(address, entry.addresses), holder);
    this.#onReturn(pool);
  }

  /** Built anew when the pool changes: from what is held and what is reserved. */
  #entry(pool: Pool): Entry {
    const key = poolKeyOf(pool);
    const version = `${pool.metadata.uid}/${pool.metadata.generation}`;
    const known = this.#entries.get(key);
    if (known?.version === version) return known;
    const addresses = poolAddresses(pool.spec);
    const allocator = new Allocator("problem" in addresses ? [] : addresses.ranges);
    for (const [holder, address] of this.#held.get(key) ?? []) allocator.hold(valueOf(address, addresses), holder);
    for (const [holder, reservation] of this.#reserved)
      if (reservation.pool === key) allocator.hold(valueOf(reservation.address, addresses), holder);
    const entry = { version, addresses, allocator };
    this.#entries.set(key, entry);
    return entry;
  }

  /** A pool that is gone needs no entry. */
  forget(pool: string): void {
    this.#entries.delete(pool);
  }
}

function poolOf(object: IPAddress): string {
  return poolKeyOf({
    kind: object.spec.poolRef.kind,
    metadata: { namespace: object.metadata.namespace, name: object.spec.poolRef.name },
  });
}

/** An address of the other family, or text that is none, is outside of every range. */
function valueOf(text: string, addresses: PoolAddresses | { problem: string }): bigint {
  const parsed = parseAddress(text);
  if (parsed === undefined) return -1n;
  return "problem" in addresses || parsed.family === addresses.family ? parsed.value : -2n - parsed.value;
}
