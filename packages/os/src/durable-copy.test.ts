import {
  fsyncSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { AtomicFs } from "./atomic-file.ts";
import { appendFileDurableSync, copyDurable, type Flush } from "./durable-copy.ts";

const flushed: string[] = [];
/** Records what is flushed. */
const fs = {
  open: (async (path: string, flags: string) => {
    const handle = await open(path, flags);
    const wrapped: Partial<FileHandle> = {
      close: () => handle.close(),
      sync: async () => {
        await handle.sync();
        flushed.push(path);
      },
    };
    return wrapped;
  }) as unknown as AtomicFs["open"],
};
const flush: Flush = (descriptor, path) => {
  fsyncSync(descriptor);
  flushed.push(path);
};

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "capstan-durable-"));
  flushed.length = 0;
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));
const flushedPaths = (): string[] => flushed.map((path) => relative(dir, path));

test("flushes every file and folder of a copy, and where its name is", async () => {
  mkdirSync(join(dir, "data/member/wal"), { recursive: true });
  writeFileSync(join(dir, "data/member/wal/0.wal"), "log");
  writeFileSync(join(dir, "data/member/db"), "db");
  await copyDurable(join(dir, "data"), join(dir, "before"), { fs });
  expect(readFileSync(join(dir, "before/member/wal/0.wal"), "utf8")).toBe("log");
  expect(flushedPaths().sort()).toEqual(
    ["", "before", "before/member", "before/member/db", "before/member/wal", "before/member/wal/0.wal"].sort(),
  );
  await expect(copyDurable(join(dir, "data"), join(dir, "before"))).rejects.toThrow();
});

test("copies what a link leads to, since what is written to the link changes that", async () => {
  writeFileSync(join(dir, "file"), "old");
  symlinkSync(join(dir, "file"), join(dir, "link"));
  await copyDurable(join(dir, "link"), join(dir, "backup"));
  writeFileSync(join(dir, "link"), "new");
  expect(readFileSync(join(dir, "backup"), "utf8")).toBe("old");
});

test("keeps links as they are where another user may have written them", async () => {
  mkdirSync(join(dir, "data"));
  writeFileSync(join(dir, "secret"), "of another user");
  symlinkSync(join(dir, "secret"), join(dir, "data/link"));
  await copyDurable(join(dir, "data"), join(dir, "before"), { links: "keep" });
  expect(readlinkSync(join(dir, "before/link"))).toBe(join(dir, "secret"));
});

test("flushes a journal with each line, and its name with the first", () => {
  const journal = join(dir, "journal");
  appendFileDurableSync(journal, "one\n", flush);
  appendFileDurableSync(journal, "two\n", flush);
  expect(readFileSync(journal, "utf8")).toBe("one\ntwo\n");
  expect(statSync(journal).mode & 0o777).toBe(0o600);
  expect(flushedPaths()).toEqual(["journal", "", "journal"]);
});
