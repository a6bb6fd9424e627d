import { expect, it } from "vitest";
import { DiskReserve, type DiskSpace, RESERVE_BYTES } from "./disk-reserve.ts";

/** A disk with so many bytes free for files and reserve together. */
function disk(free: number): DiskSpace & { free_: number; reserved: boolean } {
  const space = {
    free_: free,
    reserved: false,
    free: () => space.free_ - (space.reserved ? RESERVE_BYTES : 0),
    occupy: () => {
      if (space.free_ < RESERVE_BYTES) throw new Error("ENOSPC");
      space.reserved = true;
    },
    release: () => {
      space.reserved = false;
    },
  };
  return space;
}

it("occupies its space while there is some", () => {
  const space = disk(10 * RESERVE_BYTES);
  const reserve = new DiskReserve("/data", space);
  expect(space.reserved).toBe(true);
  expect(reserve.refusal()).toBeUndefined();
});

it("gives its space back when the disk is full, and says so until there is space again", () => {
  const space = disk(RESERVE_BYTES + 10_000_000);
  const reserve = new DiskReserve("/data", space);
  space.free_ = RESERVE_BYTES;
  reserve.spend();
  expect(space.reserved).toBe(false);
  expect(reserve.refusal()?.message).toBe("no space left on /data; nothing was written");
  space.free_ = 2 * RESERVE_BYTES;
  expect(reserve.refusal()).toBeUndefined();
  expect(space.reserved).toBe(true);
});

it("starts without its space on a full disk", () => {
  const space = disk(1000);
  space.reserved = true;
  const reserve = new DiskReserve("/data", space);
  expect(space.reserved).toBe(false);
  expect(reserve.refusal()).toBeDefined();
});
