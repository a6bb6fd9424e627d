import { rmSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { StoreError } from "./store.ts";
import { noSpace } from "./write-error.ts";

/** What a reserve asks of the file system. */
export interface DiskSpace {
  /** Bytes that are free for this user. */
  free(): number;
  /** Occupies the reserve; throws when there is no space for it. */
  occupy(): void;
  /** Gives the reserve back to the file system. */
  release(): void;
}

/** Enough to start, and to delete thousands of objects with their history. */
export const RESERVE_BYTES = 16 * 1024 * 1024;
/** With less than this at a start, not even the files of a start could be written. */
const LEAST_TO_START = 4 * 1024 * 1024;
const FILE = "reserve";

/**
 * Space that is kept for the time when the disk is full. It is then given back to the file system, and only deletions may use it:
 * a full disk must not keep people from making room. As soon as there is space again, it is occupied anew.
 */
export class DiskReserve {
  readonly #space: DiskSpace;
  readonly #directory: string;
  #full = false;

  constructor(directory: string, space: DiskSpace) {
    this.#directory = directory;
    this.#space = space;
    if (space.free() < LEAST_TO_START) this.spend();
    else this.#occupy();
  }

  /** The disk turned out to be full: from now on only deletions are let through. */
  spend(): void {
    this.#full = true;
    this.#space.release();
  }

  /** Why writes are refused; undefined when there is, or is again, space. */
  refusal(): StoreError | undefined {
    if (this.#full && this.#space.free() >= 2 * RESERVE_BYTES) this.#occupy();
    return this.#full ? noSpace(this.#directory) : undefined;
  }

  #occupy(): void {
    try {
      this.#space.occupy();
      this.#full = false;
    } catch {
      this.spend();
    }
  }
}

/** The reserve of a directory, as a file in it. */
export function diskSpace(directory: string): DiskSpace {
  const file = join(directory, FILE);
  return {
    free: () => {
      const { bavail, bsize } = statfsSync(directory);
      return bavail * bsize;
    },
    occupy: () => writeFileSync(file, Buffer.alloc(RESERVE_BYTES), { mode: 0o600 }),
    release: () => rmSync(file, { force: true }),
  };
}
