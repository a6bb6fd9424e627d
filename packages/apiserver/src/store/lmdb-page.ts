/** Reads LMDB's file format (data version 2, little-endian, 64-bit), as far as checking the integrity of a file needs it. */

/** Size of a page's header in bytes. */
export const PAGE_HEADER = 24;
/** Number of bytes of a meta page that hold its header and meta record; `readMeta` needs at least as many. */
export const META_END = PAGE_HEADER + 144;
/** Flag of a branch page, whose entries point to child pages. */
export const P_BRANCH = 1;
/** Flag of a leaf page, whose entries hold values or point to overflow pages. */
export const P_LEAF = 2;
/** Flag of the first of the consecutive overflow pages that hold one large value. */
export const P_OVERFLOW = 4;
/** Flag of a meta page, one of the first two pages of the file. */
export const P_META = 8;
/** Page number of the root of an empty tree (LMDB's P_INVALID). */
export const NO_PAGE = -1;
/** Flags of the tree that lists free pages: its keys are integers (LMDB's MDB_INTEGERKEY). */
export const FREE_FLAGS = 8;
/** Flags of the main tree of a database without named sub-databases. */
export const MAIN_FLAGS = 0;

const MAGIC = 0xbeefc0de;
const DATA_VERSION = 2;
const BIG_DATA = 1;
const NODE_HEADER = 8;
const DB_BYTES = 48;

/** The record of one B+ tree in a meta page: its root page and its page and entry counts. */
export interface Tree {
  flags: number;
  depth: number;
  branchPages: number;
  leafPages: number;
  overflowPages: number;
  entries: number;
  root: number;
}

/** The content of a meta page: the trees of one snapshot of the database, and the transaction that wrote it. */
export interface Meta {
  pageSize: number;
  transaction: number;
  lastPage: number;
  free: Tree;
  main: Tree;
}

/** One entry of a page: a child in a branch page; a value, or a reference to overflow pages, in a leaf page. */
export interface Node {
  key: Buffer;
  child?: number;
  value?: Buffer;
  overflow?: { page: number; pages: number; size: number };
}

/** Decodes a meta page; returns undefined if `page` is not a valid one. */
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

/** Decodes the entries of a branch or leaf page; throws a RangeError when an entry is out of the page's bounds. */
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

/** Returns the flags of a page, such as P_LEAF. */
export function pageFlags(page: Buffer): number {
  return page.readUInt16LE(18);
}

/** Decodes the page numbers in a record of the free list. Zeros are gaps; a negative number is the length of the block that follows. */
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

/** Reads a 64-bit integer; throws a RangeError when it exceeds a safe integer, which does not occur in an intact file. */
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
