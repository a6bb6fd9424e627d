import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import * as promises from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type AtomicFs, writeFileAtomic, writeFileAtomicSync } from "./atomic-file.ts";

let dir: string;
let path: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "capstan-atomic-"));
  path = join(dir, "record.json");
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

/** A crash: from the given step on nothing reaches the file system any more. */
class Crash extends Error {}

function recorded(steps: string[], crashAt = Number.POSITIVE_INFINITY): AtomicFs {
  const step = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
    if (steps.length >= crashAt) throw new Crash(name);
    steps.push(name);
    return await work();
  };
  return {
    open: (async (file: string, flags: string, mode?: number) => {
      const handle = await step(`open ${kind(file)}`, () => promises.open(file, flags, mode));
      const wrapped: Partial<promises.FileHandle> = {
        writeFile: (content) => step(`write ${kind(file)}`, () => handle.writeFile(content)),
        chmod: (value) => handle.chmod(value),
        sync: () => step(`fsync ${kind(file)}`, () => handle.sync()),
        close: () => handle.close(),
      };
      return wrapped;
    }) as unknown as AtomicFs["open"],
    rename: (from, to) =>
      step(`rename ${kind(String(from))} to ${basename(String(to))}`, () => promises.rename(from, to)),
    rm: () => (steps.length >= crashAt ? Promise.reject(new Crash("rm")) : Promise.resolve()),
  };
}

function kind(file: string): string {
  return file === dir ? "directory" : file.endsWith(".new") ? "draft" : "file";
}

test("flushes the draft before the rename, and the directory after it", async () => {
  const steps: string[] = [];
  await writeFileAtomic(path, "new", {}, recorded(steps));
  expect(steps).toEqual([
    "open draft",
    "write draft",
    "fsync draft",
    "rename draft to record.json",
    "open directory",
    "fsync directory",
  ]);
  expect(readdirSync(dir)).toEqual(["record.json"]);
});

test.each([0, 1, 2, 3, 4, 5])("a crash after step %i leaves the old or the new file, never half of one", async (at) => {
  writeFileSync(path, "old");
  await expect(writeFileAtomic(path, "new", {}, recorded([], at))).rejects.toThrow(Crash);
  expect(readFileSync(path, "utf8")).toBe(at <= 3 ? "old" : "new");
});

test("writers of one path at the same time do not share a draft", async () => {
  const texts = Array.from({ length: 20 }, (_, index) => String(index).repeat(10_000));
  await Promise.all(texts.map((text) => writeFileAtomic(path, text)));
  expect(texts).toContain(readFileSync(path, "utf8"));
  expect(readdirSync(dir)).toEqual(["record.json"]);
});

test.each([
  ["asynchronous", (text: string, mode?: number) => writeFileAtomic(path, text, mode === undefined ? {} : { mode })],
  [
    "synchronous",
    async (text: string, mode?: number) => writeFileAtomicSync(path, text, mode === undefined ? {} : { mode }),
  ],
])("the mode is the requested one whatever the old file had (%s)", async (_, write) => {
  writeFileSync(path, "old");
  chmodSync(path, 0o666);
  await write("secret");
  expect(readFileSync(path, "utf8")).toBe("secret");
  expect(statSync(path).mode & 0o777).toBe(0o600);
  await write("shared", 0o664);
  expect(statSync(path).mode & 0o777).toBe(0o664);
  expect(readdirSync(dir)).toEqual(["record.json"]);
});

test("ignores the draft of a killed process with the same pid", async () => {
  // Processes in a container have the same pid after every restart, and write the same files in the same order.
  for (let i = 0; i < 1000; i++) writeFileSync(`${path}.${process.pid}-${i}.new`, "half");
  await writeFileAtomic(path, "one");
  expect(readFileSync(path, "utf8")).toBe("one");
  writeFileAtomicSync(path, "two");
  expect(readFileSync(path, "utf8")).toBe("two");
});

test("fails for a directory that does not exist and leaves nothing behind", async () => {
  await expect(writeFileAtomic(join(dir, "missing", "file"), "text")).rejects.toThrow("ENOENT");
  expect(() => writeFileAtomicSync(join(dir, "missing", "file"), "text")).toThrow("ENOENT");
  expect(readdirSync(dir)).toEqual([]);
});
