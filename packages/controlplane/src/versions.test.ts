import { NEWEST_MINOR, OLDEST_MINOR } from "@capstan/capi";
import { expect, test } from "vitest";
import { upgradeProblem, versionFacts } from "./versions.ts";

test.each([
  ["v1.34.4", "v1.36.0", "skips a minor version: go to v1.35 first"],
  ["v1.34.4", "v1.34.3", "cannot be downgraded"],
  ["v1.34.4", "v1.35.0", undefined],
  ["v1.34.4", "v1.34.5-capstan.1", undefined],
])("from %s to %s: %s", (from, to, text) => {
  if (text === undefined) expect(upgradeProblem(from, to)).toBeUndefined();
  else expect(upgradeProblem(from, to)).toContain(text);
});

test("has facts about every version that is not refused, and about no other", () => {
  for (let minor = OLDEST_MINOR; minor <= NEWEST_MINOR; minor++)
    expect(versionFacts(`v1.${minor}.0`).etcd, `v1.${minor}`).toMatch(/^3\./);
  for (const minor of [OLDEST_MINOR - 1, NEWEST_MINOR + 1])
    expect(() => versionFacts(`v1.${minor}.0`)).toThrow("is not supported");
});
