import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

/** docs/pods-as-nodes.md names a test for each feature: a test that is renamed takes its line along. */
const root = new URL("../../", import.meta.url);
const rows = readFileSync(new URL("docs/pods-as-nodes.md", root), "utf8")
  .split("\n")
  .flatMap((line) => {
    const [, feature = "", proof = ""] = line.split("|").map((cell) => cell.trim());
    const [, file, name] = /^`([^`]+\.test\.ts)`: (.+)$/.exec(proof) ?? [];
    return file === undefined || name === undefined ? [] : [{ feature, file, name }];
  });

test("there is a line for each of them", () => {
  expect(rows.length).toBeGreaterThan(25);
});

test.each(rows)("$feature: $name", ({ file, name }) => {
  const path = file.startsWith("tests/") ? file : `providers/infra-kubernetes/src/${file}`;
  expect(readFileSync(new URL(path, root), "utf8")).toContain(name);
});
