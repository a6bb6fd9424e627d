import { type AddressRange, addressText, parseAddress, parseRange } from "./address-ranges.ts";

/** What a pool allocates: addresses, or prefixes of one length. A slot is one of them, as a number. */
export interface PoolRanges {
  family: 4 | 6;
  /** In slots. */
  ranges: readonly AddressRange[];
  /** Bits of an address that a slot leaves to its holder; none in pools of addresses. */
  slotBits?: number;
  /** Whether a holder of several slots counts for the first alone: where all namespaces share a pool, one object must not take it all. */
  oneSlotEach?: boolean;
  /** Slots reserved for later holders. */
  kept?: ReadonlyMap<string, string>;
}

/** The slots that an address or a prefix touches. */
export interface Cover extends AddressRange {
  /** Whether it is exactly one slot; a longer or shorter prefix is not. */
  exact: boolean;
}

/** Reads the text of an address or of a prefix. What is neither, or of the other family, is outside of every range. */
export function coverOf(text: string, pool: PoolRanges | { problem: string }): Cover {
  if (!("problem" in pool) && pool.slotBits !== undefined)
    return coverOfPrefix(text, pool.family, pool.slotBits, pool.oneSlotEach === true);
  const parsed = parseAddress(text);
  if (parsed === undefined) return one(-1n);
  return one("problem" in pool || parsed.family === pool.family ? parsed.value : -2n - parsed.value);
}

function coverOfPrefix(text: string, family: 4 | 6, slotBits: number, isOne: boolean): Cover {
  const parsed = parseRange(text);
  if (parsed === undefined) return one(-1n);
  const { first, last } = parsed;
  if (parsed.family !== family) return one(-2n - first);
  const bits = BigInt(slotBits);
  if (isOne) return one(first >> bits);
  return { first: first >> bits, last: last >> bits, exact: last - first + 1n === 1n << bits };
}

function one(slot: bigint): Cover {
  return { first: slot, last: slot, exact: true };
}

/** The text of a slot: an address, or a prefix with its length. */
export function slotText(slot: bigint, { family, slotBits }: PoolRanges): string {
  if (slotBits === undefined) return addressText(slot, family);
  return `${addressText(slot << BigInt(slotBits), family)}/${(family === 4 ? 32 : 128) - slotBits}`;
}
