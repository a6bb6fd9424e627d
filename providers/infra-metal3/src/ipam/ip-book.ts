import { AddressBook, IPAddress } from "@capstan/capi";
import { type Cache, keyText } from "@capstan/runtime";
import { Metal3IPAddress } from "../kinds/ip-address.ts";
import { IPPool, METAL3_IPAM_GROUP } from "../kinds/ip-pool.ts";
import { type Metal3PoolRanges, poolRanges } from "./pool-ranges.ts";

/** Tracks which claim holds which address of the IPPools. */
export type IpBook = AddressBook<IPPool, Metal3PoolRanges>;

/** Creates the book and keeps it current from the addresses of both API groups. */
export function openIpBook(cache: Cache, signal: AbortSignal, onReturn: (pool: string) => void): IpBook {
  const book: IpBook = new AddressBook(
    {
      key: ({ metadata }: IPPool) => keyText(metadata.namespace, metadata.name ?? ""),
      version: ({ metadata }: IPPool) => `${metadata.uid}/${metadata.generation}`,
      ranges: ({ metadata, spec }: IPPool) => {
        const ranges = poolRanges(spec);
        if ("problem" in ranges) return ranges;
        const kept = [...(ranges.kept ?? [])].map(([claim, address]) => [
          holderName(metadata.namespace, claim),
          address,
        ]);
        return { ...ranges, kept: new Map(kept as [string, string][]) };
      },
    },
    onReturn,
  );
  const inNamespace = (namespace: string | undefined, name: string | undefined): string =>
    keyText(namespace, name ?? "");
  book.follow(
    cache,
    {
      kind: Metal3IPAddress,
      pool: ({ metadata, spec }) => inNamespace(metadata.namespace, spec.pool.name),
      holder: ({ metadata, spec }) => holderName(metadata.namespace, spec.claim.name ?? ""),
      address: ({ spec }) => spec.address,
    },
    signal,
  );
  book.follow(
    cache,
    {
      kind: IPAddress,
      pool: ({ metadata, spec }) =>
        spec.poolRef.apiGroup === METAL3_IPAM_GROUP && spec.poolRef.kind === IPPool.kind
          ? inNamespace(metadata.namespace, spec.poolRef.name)
          : undefined,
      holder: ({ metadata, spec }) => capiHolderName(metadata.namespace, spec.claimRef.name),
      address: ({ spec }) => spec.address,
    },
    signal,
  );
  return book;
}

/** Returns the name of an IPClaim in the book. */
export function holderName(namespace: string | undefined, claim: string): string {
  return keyText(namespace, claim);
}

/** Returns the name of a Cluster API IPAddressClaim in the book. */
export function capiHolderName(namespace: string | undefined, claim: string): string {
  return `${IPAddress.group}/${keyText(namespace, claim)}`;
}
