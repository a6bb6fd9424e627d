import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import {
  FREE_FLAGS,
  MAIN_FLAGS,
  META_END,
  type Meta,
  NO_PAGE,
  type Node,
  P_BRANCH,
  P_LEAF,
  P_OVERFLOW,
  PAGE_HEADER,
  pageFlags,
  readFreeList,
  readMeta,
  readNodes,
  readNumber,
  type Tree,
} from "./lmdb-page.ts";
import { DAMAGE_CURE } from "./records.ts";
import { StoreError } from "./store.ts";

/**
 * Checks by plain reads that a database file is whole: a damaged one could crash the process once it is mapped into memory, or
 * silently show an older state. Only reads. Checksums of the values themselves are checked when they are loaded.
 */
export async function checkLmdbFile(path: string): Promise<void> {
  const fd = openSync(path, "r");
  try {
    const size = fstatSync(fd).size;
    // Truncated by a crash before the first write; LMDB fills it in.
    if (size === 0) return;
    new FileCheck(fd, size).run();
  } catch (error) {
    if (error instanceof StoreError) throw error;
    const what = error instanceof RangeError ? error.message : String(error);
    throw new StoreError(`the database file ${path} is damaged (${what})`, DAMAGE_CURE, { cause: error });
  } finally {
    closeSync(fd);
  }
}

interface TreeKind {
  compare(this: void, a: Buffer, b: Buffer): number;
  onLeaf(this: void, node: Node): void;
}

/** A page and the bounds its keys must keep to, or searches would miss some. */
interface Place {
  number: number;
  depth: number;
  low?: Buffer | undefined;
  high?: Buffer | undefined;
}

class FileCheck {
  readonly #fd: number;
  readonly #size: number;
  #pageSize = 0;
  #transaction = 0;
  #lastPage = 0;
  readonly #used = new Set<number>();

  constructor(fd: number, size: number) {
    this.#fd = fd;
    this.#size = size;
  }

  run(): void {
    const meta = this.#newestMeta();
    this.#transaction = meta.transaction;
    this.#lastPage = meta.lastPage;
    this.#checkTree(meta.main, { compare: (a, b) => a.compare(b), onLeaf: () => {} });
    const free: number[] = [];
    const onLeaf = (node: Node): void => {
      for (const page of readFreeList(node.value ?? this.#overflowValue(node))) free.push(page);
    };
    this.#checkTree(meta.free, { compare: (a, b) => readNumber(a, 0) - readNumber(b, 0), onLeaf });
    this.#checkFree(free);
  }

  /** Transaction n writes meta page n % 2, so the two must be neighbours; anything else would bring back an older state. */
  #newestMeta(): Meta {
    const first = readMeta(this.#read(0, META_END));
    if (first === undefined) throw new RangeError("its first page is not a database page");
    const { pageSize } = first;
    if (pageSize < 512 || pageSize > 65536 || (pageSize & (pageSize - 1)) !== 0) throw new RangeError("page size");
    this.#pageSize = pageSize;
    const second = readMeta(this.#read(pageSize, META_END));
    if (second === undefined || second.pageSize !== pageSize) throw new RangeError("its second page is invalid");
    for (const meta of [first, second]) {
      const known = meta.main.flags === MAIN_FLAGS && meta.free.flags === FREE_FLAGS;
      if (!known) throw new RangeError("database flags");
      this.#checkRoot(meta);
    }
    const [even, odd] = [first.transaction, second.transaction];
    if (even === 0 && odd === 0) return first;
    // A fresh copy, as a backup makes it: an empty first snapshot, and pages that all count as written by transaction 1.
    if (even === 0 && first.main.root === NO_PAGE && odd % 2 === 1) return second;
    if (even % 2 !== 0 || Math.abs(even - odd) !== 1) throw new RangeError("its newest snapshot cannot be determined");
    return even > odd ? first : second;
  }

  /**
   * Every commit rewrites the main root and keeps the previous snapshot intact: a root of another transaction reveals a meta
   * page that was made to look newer or older than it is.
   */
  #checkRoot(meta: Meta): void {
    if (meta.main.root === NO_PAGE) return;
    const written = readNumber(this.#read(meta.main.root * this.#pageSize, PAGE_HEADER), 8);
    if (written !== meta.transaction && written !== 1) throw new RangeError("its newest snapshot cannot be determined");
  }

  #checkTree(tree: Tree, kind: TreeKind): void {
    const counted: Tree = { ...tree, branchPages: 0, leafPages: 0, overflowPages: 0, entries: 0 };
    if (tree.root !== NO_PAGE) this.#checkPage({ number: tree.root, depth: tree.depth }, counted, kind);
    for (const field of ["branchPages", "leafPages", "overflowPages", "entries"] as const) {
      if (counted[field] !== tree[field]) throw new RangeError(`${field} ${counted[field]} instead of ${tree[field]}`);
    }
  }

  #checkPage(place: Place, counted: Tree, kind: TreeKind): void {
    const { number, depth } = place;
    const page = this.#read(this.#claim(number, 1), this.#pageSize);
    this.#checkHeader(page, number);
    const flags = pageFlags(page);
    if (flags !== (depth > 1 ? P_BRANCH : P_LEAF)) throw new RangeError(`page ${number} is of the wrong kind`);
    const nodes = readNodes(page);
    // The first key of a branch page is not used and may be empty.
    checkOrder(flags === P_BRANCH ? nodes.slice(1) : nodes, place, kind);
    if (flags === P_BRANCH) {
      counted.branchPages++;
      if (nodes.length < 2) throw new RangeError(`page ${number} has too few children`);
      for (const [i, node] of nodes.entries()) {
        const low = i === 0 ? place.low : node.key;
        const high = nodes[i + 1]?.key ?? place.high;
        this.#checkPage({ number: node.child ?? NO_PAGE, depth: depth - 1, low, high }, counted, kind);
      }
      return;
    }
    counted.leafPages++;
    counted.entries += nodes.length;
    for (const node of nodes) {
      if (node.overflow !== undefined) counted.overflowPages += this.#checkOverflow(node.overflow);
      kind.onLeaf(node);
    }
  }

  #checkOverflow(overflow: { page: number; pages: number; size: number }): number {
    const { page: number, pages, size } = overflow;
    // More than needed is possible: a value that was replaced within one transaction keeps its pages.
    if (pages < Math.floor((PAGE_HEADER - 1 + size) / this.#pageSize) + 1) throw new RangeError("overflow size");
    const header = this.#read(this.#claim(number, pages), PAGE_HEADER);
    this.#checkHeader(header, number);
    if (pageFlags(header) !== P_OVERFLOW || header.readUInt32LE(20) !== pages) throw new RangeError("overflow page");
    return pages;
  }

  /** A page that is newer than the snapshot that holds it reveals a root that was changed to an older one. */
  #checkHeader(page: Buffer, number: number): void {
    if (readNumber(page, 0) !== number) throw new RangeError(`page ${number} is not in its place`);
    if (readNumber(page, 8) > this.#transaction) throw new RangeError(`page ${number} is newer than the snapshot`);
  }

  /** Marks pages as used, each by one only, and gives their place in the file. */
  #claim(first: number, count: number): number {
    if (first < 2 || count < 1 || first + count - 1 > this.#lastPage)
      throw new RangeError(`page ${first} does not exist`);
    if ((first + count) * this.#pageSize > this.#size) throw new RangeError(`it is truncated before page ${first}`);
    for (let page = first; page < first + count; page++) {
      if (this.#used.has(page)) throw new RangeError(`page ${page} is used twice`);
      this.#used.add(page);
    }
    return first * this.#pageSize;
  }

  #checkFree(free: number[]): void {
    // Pages past the end of the file are possible, but only such as are listed as free.
    const end = free.reduce((max, page) => Math.max(max, page), Math.floor(this.#size / this.#pageSize));
    if (this.#lastPage > end) throw new RangeError("its last page does not exist");
    for (const page of free) {
      if (page < 2 || page > this.#lastPage) throw new RangeError(`free page ${page} does not exist`);
      if (this.#used.has(page)) throw new RangeError(`page ${page} is used and listed as free`);
    }
  }

  #overflowValue(node: Node): Buffer {
    if (node.overflow === undefined) return Buffer.alloc(0);
    return this.#read(node.overflow.page * this.#pageSize + PAGE_HEADER, node.overflow.size);
  }

  #read(position: number, length: number): Buffer {
    const buffer = Buffer.allocUnsafe(length);
    if (readSync(this.#fd, buffer, 0, length, position) !== length) throw new RangeError("it was truncated");
    return buffer;
  }
}

function checkOrder(nodes: readonly Node[], place: Place, kind: TreeKind): void {
  let previous = place.low;
  for (const [i, { key }] of nodes.entries()) {
    const order = previous === undefined ? -1 : kind.compare(previous, key);
    if (order > 0 || (order === 0 && i > 0)) throw new RangeError(`page ${place.number} is out of order`);
    previous = key;
  }
  if (previous !== undefined && place.high !== undefined && kind.compare(previous, place.high) >= 0) {
    throw new RangeError(`page ${place.number} is out of order`);
  }
}
