import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { DirectoryStore } from "./directory-store.ts";

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "capstan-directory-store-"));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

test("lists no backup that lacks a file, or whose snapshot is empty", async () => {
  const store = new DirectoryStore(dir);
  await store.save("default/c1", "20261116T000000Z", import.meta.filename, "{}");
  const add = async (name: string, files: Record<string, string>): Promise<void> => {
    await mkdir(join(dir, "default/c1", name), { recursive: true });
    for (const [file, text] of Object.entries(files)) await writeFile(join(dir, "default/c1", name, file), text);
  };
  await add("20261116T010000Z", { "control-plane.json": "{}" });
  await add("20261116T020000Z", { "snapshot.db": "x" });
  await add("20261116T030000Z", { "snapshot.db": "", "control-plane.json": "{}" });
  expect((await store.list("default/c1")).map(({ name }) => name)).toEqual(["20261116T000000Z"]);
});
