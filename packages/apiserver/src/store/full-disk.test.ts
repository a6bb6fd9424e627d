import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { seededRandom } from "@capstan/apimachinery";
import { afterAll, beforeEach, expect, it } from "vitest";
import { DiskReserve, RESERVE_BYTES } from "./disk-reserve.ts";
import { type Database, openDatabase, type Records } from "./lmdb-database.ts";
import { DurableStore } from "./lmdb-store.ts";

const root = mkdtempSync(join(tmpdir(), "capstan-full-disk-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const bytes = Buffer.from("x");
/** What LMDB reports on a full disk: when nothing could be written, and when a part could. */
const CAUSES = ["No space left on device", "Input/output error"];

/** A disk that is full unless the reserve was released. */
let free: number;
let kept: number;
let reserve: DiskReserve;
beforeEach(() => {
  [free, kept] = [10 * RESERVE_BYTES, 0];
  reserve = new DiskReserve("/data", {
    free: () => free - kept,
    keep: (wanted) => {
      kept = wanted;
    },
  });
  reserve.started();
});

/** Transactions fail as on that disk; those of one moment are flushed, and fail, together. */
function onDisk(database: Database, cause: string): Records {
  return {
    getBinary: (key) => database.getBinary(key),
    put: database.put.bind(database),
    remove: database.remove.bind(database),
    getKeys: (range) => database.getKeys(range) as Iterable<Buffer>,
    getRange: (range) => database.getRange(range) as Iterable<{ key: Buffer; value: Buffer }>,
    transaction: ((action: () => unknown) =>
      free - kept > 0 ? database.transaction(action) : Promise.reject(new Error(cause))) as Records["transaction"],
  };
}

it.each(CAUSES)(
  "the commits that find the disk full (%s) succeed from the reserve, further writes are refused",
  async (cause) => {
    const database = await openDatabase(mkdtempSync(join(root, "s-")));
    const store = new DurableStore(
      onDisk(database, cause),
      { keys: [], random: seededRandom(1) },
      {
        reserve,
        backup: () => Promise.reject(new Error("not here")),
        close: () => database.close(),
      },
    );
    await store.load();
    await store.commit([1, 2, 3].map((revision) => ({ revision, key: `g/a/${revision}`, bytes })));
    free = RESERVE_BYTES;
    const deletions = [1, 2].map((name) => store.commit([{ revision: 3 + name, key: `g/a/${name}`, bytes: null }]));
    await Promise.all(deletions);
    expect(store.refusal(false)?.message).toBe("no space left on /data; nothing was written");
    expect(store.refusal(true)).toBeUndefined();
    expect(store.problem()).toContain("no space left on /data");
    await store.commit([{ revision: 6, key: "g/a/3", bytes: null }]);
    const { objects, revision } = await store.load();
    expect([objects, revision]).toEqual([[], 6]);
    await store.close();
  },
);
