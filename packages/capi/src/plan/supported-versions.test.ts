import { expect, test } from "vitest";
import {
  DEFAULT_VERSION,
  NEWEST_MINOR,
  OLDEST_MINOR,
  supportPeriod,
  supportWarning,
  supportWindow,
  TESTED_VERSIONS,
  versionProblem,
} from "./supported-versions.ts";

const at = (text: string): number => Date.parse(text);

test("every minor version that can run has an end of life, later than the one before", () => {
  const ends: string[] = [];
  for (let minor = OLDEST_MINOR; minor <= NEWEST_MINOR; minor++)
    ends.push(supportPeriod(`v1.${minor}.0`, 0)?.endOfLife ?? "");
  expect(ends).not.toContain("");
  expect(ends).toEqual(ends.toSorted());
});

test("the default is the newest minor version, and every tested version can run", () => {
  expect(DEFAULT_VERSION).toMatch(new RegExp(`^v1\\.${NEWEST_MINOR}\\.`));
  for (const version of TESTED_VERSIONS) expect(versionProblem(version)).toBeUndefined();
  expect(versionProblem(`v1.${NEWEST_MINOR + 1}.0`)).toContain("is not supported");
});

test("refuses only what is older or newer than the known versions, and warns about the old ones", () => {
  const now = at("2026-11-19T00:00:00Z");
  for (let minor = OLDEST_MINOR; minor <= 34; minor++) {
    expect(versionProblem(`v1.${minor}.3`), `v1.${minor}`).toBeUndefined();
    expect(supportWarning(`v1.${minor}.3`, now), `v1.${minor}`).toContain("has had no fixes since");
  }
  for (const version of [`v1.${OLDEST_MINOR - 1}.9`, `v1.${NEWEST_MINOR + 1}.0`])
    expect(versionProblem(version)).toBe(`Kubernetes ${version} is not supported; use v1.28 to v1.37`);
});

test("a version is supported through its last day", () => {
  expect(supportWarning("v1.34.4", at("2026-10-27T23:59:59Z"))).toBeUndefined();
  expect(supportWarning("v1.34.4", at("2026-10-28T00:00:00Z"))).toBe(
    "Kubernetes v1.34 has had no fixes since 2026-10-27; supported: v1.35, v1.36, v1.37",
  );
  expect(supportWindow(at("2026-11-18T00:00:00Z")).map(({ minor }) => minor)).toEqual(["v1.35", "v1.36", "v1.37"]);
});

test("an old build that knows no supported version any more names none", () => {
  expect(supportWarning("v1.37.1", at("2028-01-01T00:00:00Z"))).toBe(
    "Kubernetes v1.37 has had no fixes since 2027-10-28",
  );
});

test("nothing is said about a version without a known date", () => {
  for (const version of ["v1.99.0", "v2.34.0", "latest"])
    expect(supportWarning(version, at("2030-01-01"))).toBeUndefined();
});
