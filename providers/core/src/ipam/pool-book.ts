import { AddressBook, IPAddress, type PoolAddresses, poolAddresses } from "@capstan/capi";
import { type Cache, keyText } from "@capstan/runtime";
import { isOurs, type Pool, poolKeyOf } from "./pools.ts";

/** Who holds which address of the in-cluster pools. */
export type PoolBook = AddressBook<Pool, PoolAddresses>;

/** Opens the book over all IPAddresses there are. */
export function openPoolBook(cache: Cache, signal: AbortSignal, onReturn: (pool: string) => void): PoolBook {
  const book: PoolBook = new AddressBook<Pool, PoolAddresses>(
    {
      key: (pool: Pool) => poolKeyOf(pool),
      version: ({ metadata }: Pool) => `${metadata.uid}/${metadata.generation}`,
      ranges: ({ spec }: Pool) => poolAddresses(spec),
    },
    onReturn,
  );
  book.follow(cache, { kind: IPAddress, pool: poolOf, holder: holderOf, address: ({ spec }) => spec.address }, signal);
  return book;
}

function holderOf({ metadata }: IPAddress): string {
  return keyText(metadata.namespace, metadata.name ?? "");
}

function poolOf({ metadata, spec }: IPAddress): string | undefined {
  const { kind, name } = spec.poolRef;
  return isOurs(spec.poolRef) ? poolKeyOf({ kind, metadata: { namespace: metadata.namespace, name } }) : undefined;
}
