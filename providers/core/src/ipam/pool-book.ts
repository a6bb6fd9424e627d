import {
  AddressBook,
  IPAddress,
  type PoolAddresses,
  type PoolPrefixes,
  poolAddresses,
  poolPrefixes,
} from "@capstan/capi";
import { type Cache, keyText } from "@capstan/runtime";
import { isOurs, isPrefixPool, POOL_KINDS, type Pool, poolKeyOf, unitOf } from "./pools.ts";

/** What a pool allocates: addresses or prefixes. */
type Given = PoolAddresses | (PoolPrefixes & { oneSlotEach?: boolean });

/** Tracks which claim holds which address or prefix of the in-cluster pools. */
export type PoolBook = AddressBook<Pool, Given>;

/** Creates the book and keeps it current from all IPAddresses. */
export function openPoolBook(cache: Cache, signal: AbortSignal, onReturn: (pool: string) => void): PoolBook {
  const book: PoolBook = new AddressBook<Pool, Given>(
    {
      key: (pool: Pool) => poolKeyOf(pool),
      version: ({ metadata }: Pool) => `${metadata.uid}/${metadata.generation}`,
      ranges: givenBy,
    },
    onReturn,
  );
  book.follow(cache, { kind: IPAddress, pool: poolOf, holder: holderOf, address: heldBy }, signal);
  return book;
}

/** What a pool gives. The length of its prefixes never changes, so a holder of more than one did not get them from this pool. */
function givenBy(pool: Pool): Given | { problem: string } {
  if (!isPrefixPool(pool)) return poolAddresses(pool.spec);
  const prefixes = poolPrefixes(pool.spec);
  return "problem" in prefixes
    ? prefixes
    : { ...prefixes, oneSlotEach: POOL_KINDS.get(pool.kind)?.namespaced !== true };
}

function holderOf({ metadata }: IPAddress): string {
  return keyText(metadata.namespace, metadata.name ?? "");
}

/** What an object holds, as the address book expects it. */
function heldBy({ spec }: IPAddress): string {
  return unitOf(spec.poolRef.kind) === "prefix" ? `${spec.address}/${spec.prefix}` : spec.address;
}

function poolOf({ metadata, spec }: IPAddress): string | undefined {
  const { kind, name } = spec.poolRef;
  return isOurs(spec.poolRef) ? poolKeyOf({ kind, metadata: { namespace: metadata.namespace, name } }) : undefined;
}
