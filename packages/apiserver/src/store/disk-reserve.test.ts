import { expect, it } from "vitest";
import { DiskReserve, type DiskSpace, RESERVE_BYTES, START_BYTES } from "./disk-reserve.ts";
import { StoreError } from "./store.ts";
import { writeError } from "./write-error.ts";

/** A disk with so many bytes free for files and reserve together. */
function disk(free: number, kept = 0): DiskSpace & { free_: number; kept: number } {
  const space = {
    free_: free,
    kept,
    free: () => space.free_ - space.kept,
    keep: (bytes: number) => {
      if (bytes > space.free_) throw new Error("ENOSPC");
      space.kept = bytes;
    },
  };
  return space;
}

it("occupies its space while there is some", () => {
  const space = disk(10 * RESERVE_BYTES);
  const reserve = new DiskReserve("/data", space);
  expect(space.kept).toBe(RESERVE_BYTES);
  expect(reserve.refusal()).toBeUndefined();
});

it("releases its space when the disk is full, and says so until there is space again", () => {
  const space = disk(RESERVE_BYTES + 10_000_000);
  const reserve = new DiskReserve("/data", space);
  reserve.started();
  space.free_ = RESERVE_BYTES;
  reserve.spend();
  expect(space.kept, "the part of the next start is kept").toBe(START_BYTES);
  expect(reserve.refusal()?.message).toBe("no space left on /data; nothing was written");
  space.free_ = 2 * RESERVE_BYTES + START_BYTES;
  expect(reserve.refusal()).toBeUndefined();
  expect(space.kept).toBe(RESERVE_BYTES);
});

it("gives a start on a full disk the space that the process before kept for it, and keeps the rest for the next start", () => {
  // Another program has filled what was released for deletions.
  const space = disk(START_BYTES, START_BYTES);
  const reserve = new DiskReserve("/data", space);
  expect(space.free()).toBe(START_BYTES);
  expect(reserve.refusal(), "a start may write").toBeUndefined();
  space.free_ -= 100_000;
  reserve.started();
  expect(reserve.refusal()).toBeDefined();
  expect(space.kept).toBe((START_BYTES - 100_000) / 2);
  reserve.spend();
  expect(space.kept, "a failed write releases it no more").toBe((START_BYTES - 100_000) / 2);
});

it("keeps nothing if there is not even space for the part of a start", () => {
  const space = disk(START_BYTES + 1000);
  const reserve = new DiskReserve("/data", space);
  expect(space.kept).toBe(START_BYTES);
  expect(reserve.kept).toBe(false);
});

it.each([
  ["ENOSPC", "No space left on device", 0, true],
  ["an input/output error on a disk without space", "Input/output error", 1000, true],
  ["an input/output error on a disk with space", "Input/output error", START_BYTES, false],
])("takes %s for what it is", (_, text, left, full) => {
  const space = disk(RESERVE_BYTES + 10_000_000);
  const reserve = new DiskReserve("/data", space);
  space.free_ = RESERVE_BYTES + left;
  const failure = reserve.explain(writeError(new Error(text)));
  expect(failure).toBeInstanceOf(StoreError);
  expect(failure.message.startsWith("no space left on /data")).toBe(full);
  expect(reserve.kept).toBe(!full);
});
