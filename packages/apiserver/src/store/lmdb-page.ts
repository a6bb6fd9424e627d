/** A view of LMDB's file format (data version 2, little-endian, 64-bit), enough to check that a file can be trusted. */

export const PAGE_HEADER = 24;
export const META_END = PAGE_HEADER + 144;
export const P_BRANCH = 1;
export const P_LEAF = 2;
export const P_OVERFLOW = 4;
export const P_META = 8;
export const NO_PAGE = -1;
/** Flags of the two trees of a database without named parts: the free list has integer keys. */
export const FREE_FLAGS = 8;
export const MAIN_FLAGS = 0;

const MAGIC = 0xbeefc0de;
const DATA_VERSION = 2;
const BIG_DATA = 1;
const NODE_HEADER = 8;
const DB_BYTES = 48;

/** The root record of one B-tree. */
export interface Tree {
  flags: number;
  depth: number;
  branchPages: number;
  leafPages: number;
  overflowPages: number;
  entries: number;
  root: number;
}

/** What a meta page says: the roots of a snapshot. */
export interface Meta {
  pageSize: number;
  transaction: number;
  lastPage: number;
  free: Tree;
  main: Tree;
}

/** One entry of a page: a child in a branch page, a value or a reference to overflow pages in a leaf page. */
export interface Node {
  key: Buffer;
  child?: number;
  value?: Buffer;
  overflow?: { page: number; pages: number; size: number };
}

/** Reads the meta page in `page`; undefined when it is none. */
export function readMeta(page: Buffer): Meta | undefined {
  if (page.length < META_END || page.readUInt16LE(18) !== P_META) return undefined;
  const at = PAGE_HEADER;
  if (page.readUInt32LE(at) !== MAGIC || (page.readUInt32LE(at + 4) & 0xffff) !== DATA_VERSION) return undefined;
  return {
    pageSize: page.readUInt32LE(at + 24),
    free: readTree(page, at + 24),
    main: readTree(page, at + 24 + DB_BYTES),
    lastPage: readNumber(page, at + 24 + 2 * DB_BYTES),
    transaction: readNumber(page, at + 32 + 2 * DB_BYTES),
  };
}

/** The entries of a branch or leaf page; throws a RangeError when one does not lie within the page. */
export function readNodes(page: Buffer): Node[] {
  const lower = page.readUInt16LE(20);
  const upper = page.readUInt16LE(22);
  if (lower % 2 !== 0 || lower > upper || PAGE_HEADER + upper > page.length) throw new RangeError("page bounds");
  const branch = pageFlags(page) === P_BRANCH;
  const out: Node[] = [];
  for (let i = 0; i < lower; i += 2) {
    const at = PAGE_HEADER + page.readUInt16LE(PAGE_HEADER + i);
    if (at < PAGE_HEADER + upper) throw new RangeError("node offset");
    out.push(readNode(page, at, branch));
  }
  return out;
}

/** What kind of page it is. */
export function pageFlags(page: Buffer): number {
  return page.readUInt16LE(18);
}

/** The page numbers in a record of the free list: zeros are gaps, a negative number is the length of the block that follows. */
export function readFreeList(value: Buffer): number[] {
  const count = readNumber(value, 0);
  if ((count + 1) * 8 > value.length) throw new RangeError("free list length");
  const out: number[] = [];
  for (let i = 1; i <= count; i++) {
    const entry = readNumber(value, i * 8);
    if (entry > 0) out.push(entry);
    if (entry >= 0) continue;
    i++;
    const first = i <= count ? readNumber(value, i * 8) : 0;
    for (let j = 0; j < -entry && first > 0; j++) out.push(first + j);
  }
  return out;
}

/** A 64-bit number, which in a sound file is small enough for a double. */
export function readNumber(buffer: Buffer, at: number): number {
  const value = buffer.readBigInt64LE(at);
  if (value > 0x1f_ffff_ffff_ffffn || value < -0x1f_ffff_ffff_ffffn) throw new RangeError("number");
  return Number(value);
}

function readTree(page: Buffer, at: number): Tree {
  return {
    flags: page.readUInt16LE(at + 4),
    depth: page.readUInt16LE(at + 6),
    branchPages: readNumber(page, at + 8),
    leafPages: readNumber(page, at + 16),
    overflowPages: readNumber(page, at + 24),
    entries: readNumber(page, at + 32),
    root: readNumber(page, at + 40),
  };
}

function readNode(page: Buffer, at: number, branch: boolean): Node {
  const low = page.readUInt32LE(at);
  const flags = page.readUInt16LE(at + 4);
  const start = at + NODE_HEADER;
  const end = start + page.readUInt16LE(at + 6);
  if (end > page.length) throw new RangeError("key size");
  const key = page.subarray(start, end);
  if (branch) return { key, child: low + flags * 0x1_0000_0000 };
  if (flags === 0) {
    if (end + low > page.length) throw new RangeError("value size");
    return { key, value: page.subarray(end, end + low) };
  }
  if (flags !== BIG_DATA) throw new RangeError("node flags");
  return { key, overflow: { page: readNumber(page, end), pages: readNumber(page, end + 16), size: low } };
}
