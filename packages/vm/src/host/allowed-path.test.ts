import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { allowedPath, PathRefused } from "./allowed-path.ts";

let folder: string;

beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "capstan-vm-paths-")));
  for (const name of ["a", "a/b", "ab", "secret"]) await mkdir(join(folder, name));
  await writeFile(join(folder, "secret/key"), "");
  await symlink(join(folder, "secret"), join(folder, "a/out"));
  await symlink(join(folder, "a/b"), join(folder, "a/in"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test.each([
  ["a", "a"],
  ["a/b", "a/b"],
  ["a/in", "a/b"],
])("resolves %s below a root", async (path, real) => {
  expect(await allowedPath(join(folder, path), [join(folder, "a")])).toBe(join(folder, real));
});

test.each(["ab", "secret/key", "a/out/key", "a/../secret/key", "", "none"])("refuses %j", async (path) => {
  await expect(allowedPath(`${folder}/${path}`, [join(folder, "a")])).rejects.toThrow(PathRefused);
});

test("refuses relative paths, and everything when no folder is configured", async () => {
  await expect(allowedPath("a", ["/"])).rejects.toThrow(PathRefused);
  await expect(allowedPath("/etc/passwd", [])).rejects.toThrow("none is configured");
});

test("reports a file that is missing below a root", async () => {
  await expect(allowedPath(join(folder, "a/none"), [join(folder, "a")])).rejects.toMatchObject({ code: "ENOENT" });
});
