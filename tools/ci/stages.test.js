import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { expected } from "./plan.mjs";
import { STAGES } from "./stages.mjs";

const root = fileURLToPath(new URL("../../", import.meta.url));
const json = (/** @type {string} */ file) => JSON.parse(readFileSync(join(root, file), "utf8"));

test("has every end-to-end suite", () => {
  const suites = readdirSync(join(root, "tests/e2e")).filter((file) => file.endsWith(".test.ts"));
  const listed = STAGES.flatMap(({ command }) => / e2e -- (.*)$/.exec(command)?.[1] ?? []);
  expect(listed.toSorted()).toEqual(suites.map((file) => basename(file, ".test.ts")).toSorted());
});

test("has a duration for every stage, and for nothing else", () => {
  const durations = json("tools/ci/durations.json");
  expect(Object.keys(durations).toSorted()).toEqual(STAGES.map(({ name }) => name).toSorted());
  for (const { name } of STAGES) for (const cold of [false, true]) expected(durations, name, cold);
});

test("runs commands that exist", () => {
  const scripts = new Set(Object.keys(json("package.json").scripts));
  for (const { command } of STAGES) {
    const [, script] = /^npm run --silent (\S+)/.exec(command) ?? [];
    if (script !== undefined) expect(scripts).toContain(script);
    const [, config] = /--config (\S+)/.exec(command) ?? [];
    if (config !== undefined) expect(existsSync(join(root, config)), config).toBe(true);
  }
});

test("knows what each stage tests by paths that exist", () => {
  const stale = STAGES.flatMap(({ name, paths = [] }) =>
    paths.filter((prefix) => !matches(prefix)).map((prefix) => `${name}: ${prefix}`),
  );
  expect(stale, "adapt the paths in tools/ci/stages.mjs").toEqual([]);
  const without = STAGES.filter(({ always, paths = [] }) => always !== true && paths.length === 0);
  expect(without).toEqual([]);
});

test("runs the stages of every landing", () => {
  const names = STAGES.filter(({ always }) => always === true).map(({ name }) => name);
  expect(names).toEqual([
    "npm ci",
    "npm test",
    "check",
    "kubernetes programs",
    "conformance",
    "first run",
    "browser",
    "security",
  ]);
});

test("runs nothing that measures next to another stage", () => {
  const together = STAGES.filter(({ sideBySide }) => sideBySide !== undefined);
  expect(together.map(({ command }) => command).filter((command) => !command.includes("-real/"))).toEqual([]);
});

/** @param {string} prefix */
function matches(prefix) {
  if (prefix.endsWith("/")) return existsSync(join(root, prefix));
  const folder = join(root, dirname(prefix));
  return existsSync(folder) && readdirSync(folder).some((name) => name.startsWith(basename(prefix)));
}
