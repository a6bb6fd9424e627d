import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { seededRandom, settle, VirtualClock } from "@capstan/apimachinery";
import fc from "fast-check";
import { afterAll, describe, expect, it, vi } from "vitest";
import { restoreBackup } from "./backup.ts";
import { newEncryptionKeyLine, parseEncryptionKeys, readEncryptionKeyFile } from "./encryption.ts";
import { openDatabase } from "./lmdb-database.ts";
import { DurableStore, type LmdbStore, type LmdbStoreOptions, openLmdbStore, prepareData } from "./lmdb-store.ts";
import { memoryStore } from "./memory-store.ts";
import { openObjectStore } from "./object-store.ts";
import type { ObjectStore } from "./object-store.types.ts";
import { CompactedError, type StoredBytes, type StoreEntry, StoreError } from "./store.ts";
import { storeSuite } from "./testing/store-suite.ts";

const root = mkdtempSync(join(tmpdir(), "capstan-store-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const newDirectory = (): string => mkdtempSync(join(root, "s-"));

const random = seededRandom(1);
const keyLine = (name: string): string => newEncryptionKeyLine(name, random);
const put = (revision: number, key: string, text: string): StoreEntry => ({ revision, key, bytes: Buffer.from(text) });
const fileOf = (directory: string): string => join(directory, "db-1", "data.mdb");

async function fill(directory: string, options: LmdbStoreOptions = {}): Promise<void> {
  const store = await openLmdbStore(directory, options);
  for (let i = 1; i <= 40; i++) {
    await store.commit([
      put(i, i % 2 === 0 ? `core/secrets/a/s${i % 7}` : `core/pods/a/p${i % 5}`, `value-${i}-${"x".repeat(i * 97)}`),
    ]);
  }
  await store.close();
}

async function contents(store: LmdbStore): Promise<string> {
  const loaded = await store.load();
  const log = await store.readLog(loaded.compactedRevision);
  const texts = loaded.objects.map((o) => [o.key, o.revision, Buffer.from(o.bytes).toString()]);
  return JSON.stringify([
    loaded.revision,
    texts,
    log.map((e) => [e.revision, e.key, e.bytes === null ? null : Buffer.from(e.bytes).toString()]),
  ]);
}

async function contentsOf(directory: string, options: LmdbStoreOptions = {}): Promise<string> {
  const store = await openLmdbStore(directory, options);
  try {
    return await contents(store);
  } finally {
    await store.close();
  }
}

storeSuite(
  "openLmdbStore",
  async () => {
    const directory = newDirectory();
    return { store: await openLmdbStore(directory), reopen: () => openLmdbStore(directory) };
  },
  10,
);

storeSuite(
  "openLmdbStore with encryption",
  async () => {
    const directory = newDirectory();
    const encryptionKeys = parseEncryptionKeys(keyLine("one"));
    const open = (): Promise<LmdbStore> => openLmdbStore(directory, { encryptionKeys, random });
    return { store: await open(), reopen: open };
  },
  5,
);

describe("the lock", () => {
  it("names the process that has the directory and what to do", async () => {
    const directory = newDirectory();
    const store = await openLmdbStore(directory);
    const refused = await openLmdbStore(directory).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(StoreError);
    expect(String(refused)).toContain(`in use by process ${process.pid}`);
    expect((refused as StoreError).cure).toContain("Stop that process first");
    await store.close();
    await (await openLmdbStore(directory)).close();
  });

  it.each([
    ["a process that has exited", { pid: 0x3fffffff, started: "1", boot: "" }],
    ["a later process with the same id", { pid: process.ppid, started: "1", boot: "" }],
    ["before a reboot", { pid: process.ppid, started: "", boot: "another" }],
  ])("left by %s is taken over", async (_, holder) => {
    const directory = newDirectory();
    const boot = holder.boot === "" ? readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim() : holder.boot;
    writeFileSync(join(directory, "lock"), JSON.stringify({ ...holder, boot }));
    await (await openLmdbStore(directory)).close();
    expect(existsSync(join(directory, "lock"))).toBe(false);
  });

  it("of a living process is respected", async () => {
    const directory = newDirectory();
    const stat = readFileSync(`/proc/${process.ppid}/stat`, "utf8");
    const started = stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
    const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
    writeFileSync(join(directory, "lock"), JSON.stringify({ pid: process.ppid, started, boot }));
    await expect(openLmdbStore(directory)).rejects.toThrow(`process ${process.ppid}`);
  });
});

describe("a second writer", () => {
  it("that got past the lock is detected at the next commit, and writes stop", async () => {
    const directory = newDirectory();
    const first = await openLmdbStore(directory);
    await first.load();
    await first.commit([put(1, "g/a/x", "1")]);
    rmSync(join(directory, "lock"));
    const copy = newDirectory();
    renameSync(join(directory, "db-1"), join(copy, "db-1"));
    cpSync(join(copy, "db-1"), join(directory, "db-1"), { recursive: true });
    const other = await openLmdbStore(copy);
    await other.load();
    await other.commit([put(2, "g/a/x", "other")]);
    const refused = await first.commit([put(2, "g/a/x", "mine")]).catch((error: unknown) => error);
    expect(String(refused)).toContain("another process has written");
    await expect(first.commit([put(3, "g/a/x", "mine")])).rejects.toThrow("another process");
    expect(first.problem?.()).toMatch(/^another process has written .* Stop the other process, then restart/);
    expect(other.problem?.()).toBeUndefined();
    await other.close();
    await first.close();
  });
});

describe("encryption at rest", () => {
  const SECRET = "core/secrets/a/s";
  const inFile = (directory: string, text: string): boolean => readFileSync(fileOf(directory)).includes(text);

  it("leaves no Secret readable in the file, neither now nor in history; other kinds are as they are", async () => {
    const directory = newDirectory();
    const encryptionKeys = parseEncryptionKeys(keyLine("one"));
    const store = await openLmdbStore(directory, { encryptionKeys, random });
    await store.commit([put(1, SECRET, "hush-hush-1"), put(2, "core/configmaps/a/c", "plain-text")]);
    await store.commit([put(3, SECRET, "hush-hush-2")]);
    await store.close();
    expect(inFile(directory, "hush-hush")).toBe(false);
    expect(inFile(directory, "plain-text")).toBe(true);
    expect(statSync(fileOf(directory)).mode & 0o077).toBe(0);
    expect(await contentsOf(directory, { encryptionKeys })).toContain("hush-hush-2");
  });

  it("needs the key, and says so without showing anything", async () => {
    const directory = newDirectory();
    await fill(directory, { encryptionKeys: parseEncryptionKeys(keyLine("one")), random });
    for (const keys of [[], parseEncryptionKeys(keyLine("two"))]) {
      const refused = await contentsOf(directory, { encryptionKeys: keys }).catch((error: unknown) => error);
      expect(refused).toBeInstanceOf(StoreError);
      expect((refused as StoreError).cure).toContain("previous key file");
    }
  });

  it("rotates: a new first key, old ones still read, and after rewriting the old one can go", async () => {
    const directory = newDirectory();
    const [one, two] = [keyLine("one"), keyLine("two")];
    await fill(directory, { encryptionKeys: parseEncryptionKeys(one), random });
    const before = await contentsOf(directory, { encryptionKeys: parseEncryptionKeys(one) });
    const both = { encryptionKeys: parseEncryptionKeys(two + one), random };
    expect(await contentsOf(directory, both)).toBe(before);
    const store = await openLmdbStore(directory, both);
    expect(await store.reencrypt()).toBeGreaterThan(10);
    expect(await store.reencrypt()).toBe(0);
    await store.close();
    expect(await contentsOf(directory, { encryptionKeys: parseEncryptionKeys(two) })).toBe(before);
  });

  it("can be enabled for unencrypted data, and a backup then contains no unencrypted copy", async () => {
    const directory = newDirectory();
    await fill(directory);
    const options = { encryptionKeys: parseEncryptionKeys(keyLine("one")), random };
    const store = await openLmdbStore(directory, options);
    await store.reencrypt();
    const backup = join(newDirectory(), "backup");
    await store.backup(backup);
    await store.close();
    const file = readFileSync(fileOf(backup));
    for (let i = 2; i <= 40; i += 2) expect(file.includes(`value-${i}-`)).toBe(false);
  });

  it("reads key files, and refuses bad ones with line and cure", async () => {
    const path = join(newDirectory(), "keys");
    writeFileSync(path, `# comment\n${keyLine("a")}\n${keyLine("b")}`, { mode: 0o600 });
    expect((await readEncryptionKeyFile(path)).map((key) => key.name)).toEqual(["a", "b"]);
    writeFileSync(path, "a too-short\n");
    await expect(readEncryptionKeyFile(path)).rejects.toThrow("line 1: not a key");
    writeFileSync(path, "# nothing\n");
    await expect(readEncryptionKeyFile(path)).rejects.toThrow("contains no key");
    const open = join(newDirectory(), "open");
    writeFileSync(open, keyLine("a"), { mode: 0o644 });
    await expect(readEncryptionKeyFile(open)).rejects.toThrow("can be read by other users");
  });
});

describe("backup and restore", () => {
  it("gives the same data while writes go on, and never overwrites", async () => {
    const directory = newDirectory();
    await fill(directory);
    const before = await contentsOf(directory);
    const store = await openLmdbStore(directory);
    await store.load();
    const backup = join(newDirectory(), "backup");
    const writing = store.commit([put(41, "core/pods/a/new", "1")]);
    await store.backup(backup);
    await writing;
    await expect(store.backup(backup)).rejects.toThrow("already exists");
    await store.close();
    const restored = join(newDirectory(), "restored");
    await restoreBackup(backup, restored);
    const now = await contentsOf(restored);
    expect([before, await contentsOf(directory)]).toContain(now);
    await expect(restoreBackup(backup, restored)).rejects.toThrow("is not empty");
    await expect(restoreBackup(newDirectory(), newDirectory())).rejects.toThrow("is not a backup");
    const again = await openLmdbStore(restored);
    const { revision } = await again.load();
    await again.commit([put(revision + 1, "core/pods/a/after", "1")]);
    await again.close();
    expect(await contentsOf(restored)).toContain("core/pods/a/after");
  });
});

describe("a compaction of many changes", () => {
  const value = async (store: LmdbStore, revision: number): Promise<string> => {
    const read = await store.readAt(revision, "").catch((error: unknown) => error);
    if (read instanceof CompactedError) return "compacted";
    return (read as StoredBytes[]).map((object) => Buffer.from(object.bytes).toString()).join();
  };
  async function filled(directory: string): Promise<LmdbStore> {
    const store = await openLmdbStore(directory);
    await store.load();
    await store.commit(Array.from({ length: 1200 }, (_, i) => put(i + 1, "g/a/x", `${i + 1}`)));
    return store;
  }

  it("shows readers the whole history or none while it runs", async () => {
    const store = await filled(newDirectory());
    let running = true;
    const compaction = store.compact(1100).finally(() => {
      running = false;
    });
    const seen = new Set<string>();
    while (running) {
      for (const revision of [300, 700, 1050]) {
        const read = await value(store, revision);
        seen.add(read === `${revision}` ? "right" : read);
      }
      await settle(1);
    }
    await compaction;
    for (const read of seen) expect(["right", "compacted"]).toContain(read);
    expect(await value(store, 1099)).toBe("compacted");
    expect(await value(store, 1100)).toBe("1100");
    await store.close();
  });

  it("that was cut off leaves no gap", async () => {
    const directory = newDirectory();
    await (await filled(directory)).close();
    const database = await openDatabase(await prepareData(directory, {}));
    const files = { backup: () => Promise.resolve(), close: () => database.close() };
    const store = new DurableStore(database, { keys: [], random }, files);
    await store.load();
    // The process exits after the first chunk.
    const transaction = database.transaction.bind(database);
    vi.spyOn(database, "transaction")
      .mockImplementationOnce((action) => transaction(action))
      .mockRejectedValueOnce(new StoreError("killed", "restart"));
    await expect(store.compact(1100)).rejects.toThrow("killed");
    await store.close();
    const again = await openLmdbStore(directory);
    const { compactedRevision } = await again.load();
    expect(compactedRevision).toBe(500);
    expect((await again.readLog(compactedRevision))[0]?.revision).toBe(501);
    expect(await value(again, 300)).toBe("compacted");
    expect(await value(again, 700)).toBe("700");
    await again.compact(1100);
    expect(await value(again, 700)).toBe("compacted");
    await again.close();
  });
});

describe("formats", () => {
  /** Data that claims to be of format 0. */
  async function oldData(): Promise<{ directory: string; before: string }> {
    const directory = newDirectory();
    await fill(directory);
    const before = await contentsOf(directory);
    renameSync(join(directory, "db-1"), join(directory, "db-0"));
    writeFileSync(join(directory, "store.json"), JSON.stringify({ format: 0, database: "db-0" }));
    return { directory, before };
  }

  it("refuses data of a newer version and leaves it alone", async () => {
    const directory = newDirectory();
    await fill(directory);
    writeFileSync(join(directory, "store.json"), JSON.stringify({ format: 7, database: "db-7" }));
    const refused = await openLmdbStore(directory).catch((error: unknown) => error);
    expect(String(refused)).toContain("has format 7");
    expect((refused as StoreError).cure).toContain("newer version");
    await expect(openLmdbStore(directory)).rejects.toThrow("has format 7");
  });

  it("migrates older data into a new folder and keeps the old one", async () => {
    const { directory, before } = await oldData();
    const migrations: string[] = [];
    const store = await openLmdbStore(directory, {
      migrations: [{ from: 0, convert: (records) => records }],
      onMigrated: (from, kept) => migrations.push(`${from} ${kept}`),
    });
    expect(await contents(store)).toBe(before);
    await store.close();
    expect(migrations).toEqual([`0 ${join(directory, "db-0")}`]);
    expect(existsSync(join(directory, "db-0", "data.mdb"))).toBe(true);
    expect(await contentsOf(directory)).toBe(before);
  });

  it("restarts a migration from scratch after an interruption at any point", async () => {
    const { directory, before } = await oldData();
    const old = readFileSync(join(directory, "db-0", "data.mdb"));
    for (const stopAfter of [0, 1, 30]) {
      let count = 0;
      const migrations = [
        {
          from: 0,
          *convert(records: Iterable<{ key: Buffer; value: Buffer }>) {
            for (const record of records) {
              if (count++ >= stopAfter) throw new Error("cut off");
              yield record;
            }
          },
        },
      ];
      await expect(openLmdbStore(directory, { migrations })).rejects.toThrow("cut off");
      expect(readFileSync(join(directory, "db-0", "data.mdb")).equals(old)).toBe(true);
    }
    const store = await openLmdbStore(directory, { migrations: [{ from: 0, convert: (records) => records }] });
    expect(await contents(store)).toBe(before);
    await store.close();
  });

  it("says when there is no way from a format to this one", async () => {
    const { directory } = await oldData();
    await expect(openLmdbStore(directory)).rejects.toThrow("cannot be migrated by this version");
  });

  it("refuses a manifest that makes no sense", async () => {
    const directory = newDirectory();
    for (const text of ["", "{}", "null", '{"format":1,"database":"../x"}']) {
      writeFileSync(join(directory, "store.json"), text);
      await expect(openLmdbStore(directory)).rejects.toThrow("store.json cannot be read");
    }
  });
});

describe("damage", () => {
  it("in any place is found, or does not matter; the file stays as it is", async () => {
    const directory = newDirectory();
    await fill(directory);
    const whole = readFileSync(fileOf(directory));
    const before = await contentsOf(directory);
    const damage = fc.oneof(
      fc.record({ cut: fc.nat(whole.length - 1) }),
      fc.record({ at: fc.nat(whole.length - 1), bit: fc.nat(7) }),
      fc.record({ at: fc.nat(167), bit: fc.nat(7) }),
      fc.record({ at: fc.integer({ min: 4096, max: 4096 + 167 }), bit: fc.nat(7) }),
    );
    await fc.assert(
      fc.asyncProperty(damage, async (what) => {
        const victim = newDirectory();
        mkdirSync(join(victim, "db-1"));
        cpSync(join(directory, "store.json"), join(victim, "store.json"));
        const file = "cut" in what ? whole.subarray(0, what.cut) : Buffer.from(whole);
        if ("at" in what) file[what.at] = (file[what.at] ?? 0) ^ (1 << what.bit);
        // A crash before the first write leaves an empty file.
        if (file.length === 0) return;
        writeFileSync(fileOf(victim), file);
        try {
          expect(await contentsOf(victim)).toBe(before);
        } catch (error) {
          if (!(error instanceof StoreError)) throw error;
          expect(error.cure).toContain("restore the newest backup");
          expect(readFileSync(fileOf(victim)).equals(file)).toBe(true);
        }
        rmSync(victim, { recursive: true });
      }),
      { numRuns: 60 },
    );
  });
});

describe("an ObjectStore on disk", () => {
  const open = async (directory: string): Promise<ObjectStore> =>
    openObjectStore(await openLmdbStore(directory), { clock: new VirtualClock() });
  const step = fc.record({
    name: fc.constantFrom("a", "b", "c"),
    value: fc.option(fc.string({ maxLength: 5 }), { nil: null }),
    wait: fc.boolean(),
    restart: fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
  });

  it("is in every state equal to one in memory, also over restarts", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
        const directory = newDirectory();
        const memory = await openObjectStore(memoryStore(), { clock: new VirtualClock() });
        let disk = await open(directory);
        for (const { name, value, wait, restart } of steps) {
          const write = (store: ObjectStore): Promise<unknown> =>
            store.mutate(`core/secrets/a/${name}`, () =>
              value === null
                ? { type: "delete" }
                : { type: "put", object: { apiVersion: "v1", kind: "Secret", metadata: { name }, value } },
            );
          const both = Promise.all([write(memory), write(disk)]);
          if (wait || restart) await both;
          if (restart) {
            await disk.close();
            disk = await open(directory);
          }
        }
        await disk.mutate("g/none/x", () => ({ type: "none" }));
        await disk.close();
        disk = await open(directory);
        const state = async (store: ObjectStore): Promise<string> => {
          const events: unknown[] = [];
          store.subscribe("", 0, (changes) => {
            for (const c of changes) events.push([c.revision, c.key, c.current?.object, c.previous?.object]);
          });
          return JSON.stringify([store.revision(), store.list("").items.map((o) => o.object), events]);
        };
        expect(await state(disk)).toBe(await state(memory));
        await disk.close();
      }),
      { numRuns: 20 },
    );
  });
});
