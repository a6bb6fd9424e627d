import { mkdirSync, rmSync, statfsSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { StoreError } from "./store.ts";
import { isDiskFull, isInputOutputError, noSpace, openError } from "./write-error.ts";

/** What a reserve asks of the file system. */
export interface DiskSpace {
  /** Bytes that are free for this user. */
  free(): number;
  /** Occupies so many bytes instead of what was occupied before; throws when there is no space for them. */
  keep(bytes: number): void;
}

/** Enough to start, and to delete thousands of objects with their history. */
export const RESERVE_BYTES = 16 * 1024 * 1024;
/** The part that only a start may use, since other programs may fill what is released while the manager runs. A new version rewrites kinds. */
export const START_BYTES = 8 * 1024 * 1024;
const FILE = "reserve";

/**
 * Space that is kept for when the disk is full. Most of it is then released, and only deletions may use it, so that users can free space.
 * The rest is released by the next start. As soon as there is space again, all of it is occupied again.
 */
export class DiskReserve {
  readonly #space: DiskSpace;
  readonly #directory: string;
  #full = false;
  #starting = true;

  constructor(directory: string, space: DiskSpace) {
    this.#directory = directory;
    this.#space = space;
    if (space.free() >= START_BYTES) {
      this.#occupy();
    } else {
      this.#full = true;
      space.keep(0);
    }
  }

  /** To be called when a start has written what it must: what it left of its part is kept for the next one. Until then it may write. */
  started(): void {
    this.#starting = false;
    if (this.#full) this.#keepAtMost(Math.min(START_BYTES, Math.floor(this.#space.free() / 2)));
  }

  /** Whether the space is still kept. */
  get kept(): boolean {
    return !this.#full;
  }

  /**
   * What a failed write means on this disk, which is full from now on if that is the cause. LMDB reports a write that only partly
   * fits on the disk as an input/output error, so such an error on a disk without space is a full disk too.
   */
  explain(failure: StoreError): StoreError {
    const full =
      isDiskFull(failure) || (isInputOutputError(failure) && (this.#full || this.#space.free() < START_BYTES));
    if (!full) return failure;
    this.spend();
    return noSpace(this.#directory, failure.cause);
  }

  /** The disk turned out to be full: from now on only deletions are let through. */
  spend(): void {
    if (this.#full) return;
    this.#full = true;
    this.#keepAtMost(START_BYTES);
  }

  /** Why writes are refused; undefined when there is, or is again, space. */
  refusal(): StoreError | undefined {
    if (this.#full && this.#space.free() >= 2 * RESERVE_BYTES) this.#occupy();
    return this.#full && !this.#starting ? noSpace(this.#directory) : undefined;
  }

  #occupy(): void {
    try {
      this.#space.keep(RESERVE_BYTES);
      this.#full = false;
    } catch {
      this.#full = true;
      this.#keepAtMost(START_BYTES);
    }
  }

  #keepAtMost(bytes: number): void {
    try {
      this.#space.keep(bytes);
    } catch {
      this.#space.keep(0);
    }
  }
}

/** Keeps a reserve on the disk of a directory, as a file in it; all stores on that disk share it. */
export function openDiskReserve(directory: string): DiskReserve {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    return new DiskReserve(directory, diskSpace(directory));
  } catch (error) {
    throw openError(directory, error);
  }
}

function diskSpace(directory: string): DiskSpace {
  const file = join(directory, FILE);
  return {
    free: () => {
      const { bavail, bsize } = statfsSync(directory);
      return bavail * bsize;
    },
    keep: (bytes) => {
      const before = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
      if (bytes === 0) rmSync(file, { force: true });
      // Without releasing what is kept: another program would take it.
      else if (bytes <= before) truncateSync(file, bytes);
      else writeFileSync(file, Buffer.alloc(bytes), { mode: 0o600 });
    },
  };
}
