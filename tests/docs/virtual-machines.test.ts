import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

/** docs/virtual-machines.md names a test for each feature: a test that is renamed takes its line along. */
const root = new URL("../../", import.meta.url);
const page = readFileSync(new URL("docs/virtual-machines.md", root), "utf8");
const rows = page.split("\n").flatMap((line) => {
  const [, feature = "", proof = ""] = line.split("|").map((cell) => cell.trim());
  const [, file, name] = /^`([^`]+\.test\.ts)`: (.+)$/.exec(proof) ?? [];
  return file === undefined || name === undefined ? [] : [{ feature, file, name }];
});

test("there is a line for each of them", () => {
  expect(rows.length).toBeGreaterThan(20);
});

test.each(rows)("$feature: $name", ({ file, name }) => {
  expect(readFileSync(new URL(file, root), "utf8")).toContain(name);
});

test("every setting of the host has a row", () => {
  const source = readFileSync(new URL("providers/infra-kvm/src/placement/host-settings.ts", root), "utf8");
  const names = [...source.matchAll(/^ {2}readonly (\w+)\??:/gm)].map(([, name = ""]) => name);
  expect(names.length).toBeGreaterThan(7);
  for (const name of names) expect(page).toContain(`\`${name}\``);
});
