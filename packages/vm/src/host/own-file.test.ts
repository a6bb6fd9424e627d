import { link, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { limitOwnFile, readOwnTail } from "./own-file.ts";

let folder: string;
let log: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "capstan-vm-log-"));
  log = join(folder, "console.log");
  await writeFile(join(folder, "secret"), "secret");
});
afterEach(() => rm(folder, { recursive: true, force: true }));

test("returns the end of a log, and nothing of one that is missing", async () => {
  await writeFile(log, "first\nlast\n");
  expect(await readOwnTail(log, 5)).toBe("last\n");
  expect(await readOwnTail(join(folder, "none"))).toBe("");
});

test.each([
  ["symbolic", symlink],
  ["hard", link],
])("follows no %s link that a guest may have put in its place", async (_kind, make) => {
  await make(join(folder, "secret"), log);
  expect(await readOwnTail(log)).toBe("");
  await limitOwnFile(log, 1);
  expect(await readFile(join(folder, "secret"), "utf8")).toBe("secret");
});

test("empties a log that has grown too large", async () => {
  await writeFile(log, "12345");
  await limitOwnFile(log, 5);
  expect(await readOwnTail(log)).toBe("12345");
  await limitOwnFile(log, 4);
  expect(await readOwnTail(log)).toBe("");
});
