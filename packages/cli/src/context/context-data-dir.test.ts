import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { contextDataDir, kubeconfigFiles } from "./context-data-dir.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "capstan-context-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function kubeconfig(name: string, dataDir?: unknown): Promise<string> {
  const file = join(folder, name);
  const extensions =
    dataDir === undefined ? {} : { extensions: [{ name: "capstan.dev/instance", extension: { dataDir } }] };
  const contexts = [{ name, context: { cluster: name, user: "u", ...extensions } }];
  const text = JSON.stringify({ apiVersion: "v1", kind: "Config", "current-context": name, contexts });
  await writeFile(file, text);
  return file;
}

it("finds the data directory in the current context of the first file that has it", async () => {
  const other = await kubeconfig("other");
  const plane = await kubeconfig("plane", "/srv/capstan");
  expect(await contextDataDir([plane, other])).toBe("/srv/capstan");
  expect(await contextDataDir([join(folder, "missing"), plane])).toBe("/srv/capstan");
});

it("follows the selected context, and ignores contexts of other servers", async () => {
  const other = await kubeconfig("other");
  const plane = await kubeconfig("plane", "/srv/capstan");
  expect(await contextDataDir([other])).toBeUndefined();
  expect(await contextDataDir([other, plane], "plane")).toBe("/srv/capstan");
  expect(await contextDataDir([plane], "other")).toBeUndefined();
});

it("accepts only absolute paths, and ignores files that are not kubeconfigs", async () => {
  expect(await contextDataDir([await kubeconfig("relative", "data")])).toBeUndefined();
  expect(await contextDataDir([await kubeconfig("number", 5)])).toBeUndefined();
  const junk = join(folder, "junk");
  await writeFile(junk, "capstan.dev/instance: [");
  expect(await contextDataDir([junk, folder])).toBeUndefined();
});

it("reads --kubeconfig, or else the files of KUBECONFIG", () => {
  expect(kubeconfigFiles("/a", { KUBECONFIG: "/b" })).toEqual(["/a"]);
  expect(kubeconfigFiles(undefined, { KUBECONFIG: "/b:/c:" })).toEqual(["/b", "/c"]);
  expect(kubeconfigFiles(undefined, {})).toEqual([]);
});
