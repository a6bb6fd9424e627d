import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { withProviders } from "./load-providers.ts";
import { PROVIDERS } from "./providers.ts";

let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "capstan-providers-"));
});
afterAll(() => rm(dir, { recursive: true, force: true }));

async function module(name: string, text: string): Promise<string> {
  const file = join(dir, name);
  await writeFile(file, text);
  return file;
}

const provider = (name: string, plural: string): string =>
  `export const provider = { name: "${name}", title: "Lab", load: () => ({}),
  kinds: [{ group: "infrastructure.cluster.x-k8s.io", plural: "${plural}", crd: () => ({}) }] };`;

test("adds a provider from outside the tree after those of the tree", async () => {
  const all = await withProviders([await module("lab.mjs", provider("lab", "labmachines"))]);
  expect(all.map(({ name }) => name)).toEqual([...PROVIDERS.map(({ name }) => name), "lab"]);
});

test.each([
  ["without an export", "export const other = 1;", /does not export a provider/],
  ["with a name that is no label", provider("My Lab", "labmachines"), /does not export a provider/],
  ["with the name of another", provider("byoh", "labmachines"), /a provider named byoh is already loaded/],
  [
    "with a kind of another",
    provider("lab", "byomachines"),
    /byomachines\.infrastructure\.cluster\.x-k8s\.io is served/,
  ],
  ["that throws", "throw new Error('no licence');", /cannot load the provider .*: no licence/],
])("refuses a module %s", async (name, text, message) => {
  const file = await module(`${name.replaceAll(" ", "-")}.mjs`, text);
  await expect(withProviders([file])).rejects.toThrow(message);
});

test("refuses a file that does not exist", async () => {
  await expect(withProviders([join(dir, "missing.mjs")])).rejects.toMatchObject({
    message: expect.stringContaining("cannot load the provider") as string,
    cure: expect.stringContaining("JavaScript module") as string,
  });
});
