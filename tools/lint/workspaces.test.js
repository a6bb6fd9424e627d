import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { providersOf, staleFiles } from "./workspaces.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** @type {string} */
let copy;

beforeEach(() => {
  copy = mkdtempSync(join(tmpdir(), "capstan-workspaces-"));
  const workspaces = ["packages", "providers"].flatMap((above) =>
    readdirSync(join(root, above)).map((name) => `${above}/${name}`),
  );
  const manifests = [...workspaces, "tests", "bench"].flatMap((folder) => [
    `${folder}/package.json`,
    `${folder}/tsconfig.json`,
  ]);
  const files = [...manifests, "tsconfig.json", "tsconfig.unit.json", "packages/manager/src/providers.ts"];
  for (const file of files) {
    mkdirSync(dirname(join(copy, file)), { recursive: true });
    cpSync(join(root, file), join(copy, file));
  }
});
afterEach(() => rmSync(copy, { recursive: true, force: true }));

test("nothing is stale in this tree", () => {
  expect([...staleFiles(root).keys()]).toEqual([]);
});

test("a provider is a folder and a line: everything else that lists providers follows", () => {
  const folder = join(copy, "providers/infra-lab");
  mkdirSync(folder);
  writeFileSync(
    join(folder, "package.json"),
    JSON.stringify({ name: "@capstan/infra-lab", dependencies: { "@capstan/capi": "0.1.0" } }),
  );
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ extends: "../../tsconfig.base.json" }));
  const list = join(copy, "packages/manager/src/providers.ts");
  writeFileSync(list, `import { lab } from "@capstan/infra-lab/provider";\n${readFileSync(list, "utf8")}`);

  expect(providersOf(copy)).toContain("infra-lab");
  const stale = staleFiles(copy);
  expect([...stale.keys()].toSorted()).toEqual([
    "bench/tsconfig.json",
    "packages/manager/package.json",
    "packages/manager/tsconfig.json",
    "providers/infra-lab/tsconfig.json",
    "tests/tsconfig.json",
    "tsconfig.json",
    "tsconfig.unit.json",
  ]);
  expect(stale.get("packages/manager/package.json")).toMatchObject({ dependencies: { "@capstan/infra-lab": "0.1.0" } });
  expect(stale.get("providers/infra-lab/tsconfig.json")).toMatchObject({
    references: [{ path: "../../packages/capi" }],
  });

  for (const [file, json] of stale) writeFileSync(join(copy, file), JSON.stringify(json));
  expect(staleFiles(copy).size).toBe(0);
});

test("nothing refers to a provider that was removed", () => {
  rmSync(join(copy, "providers/infra-byoh"), { recursive: true });
  const list = join(copy, "packages/manager/src/providers.ts");
  writeFileSync(list, readFileSync(list, "utf8").replace(/^.*infra-byoh.*$/m, ""));
  const text = JSON.stringify([...staleFiles(copy).values()]);
  expect(text).not.toContain("infra-byoh");
});
