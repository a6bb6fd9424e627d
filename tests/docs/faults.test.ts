import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

/** docs/faults.md promises a test for each fault: a test that is renamed takes its line along. */
const root = new URL("../../", import.meta.url);
const rows = readFileSync(new URL("docs/faults.md", root), "utf8")
  .split("\n")
  .flatMap((line) => {
    const [, what = "", , , proof = ""] = line.split("|").map((cell) => cell.trim());
    const [, file, name] = /^`([^`]+)`: (.+)$/.exec(proof) ?? [];
    return file === undefined || name === undefined ? [] : [{ what, file, name }];
  });

test("there is a line for each of them", () => {
  expect(rows.length).toBeGreaterThan(35);
});

test.each(rows)("$what: $name", ({ file, name }) => {
  const path = file.startsWith("packages/") ? file : `providers/${file}`;
  expect(readFileSync(new URL(path, root), "utf8")).toContain(name);
});
