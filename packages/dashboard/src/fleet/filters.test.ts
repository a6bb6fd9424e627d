import type { ObjectState, StateName } from "@capstan/capi";
import type { FleetRow } from "@capstan/dashboard-server";
import { expect, test } from "vitest";
import { choicesOf, compareVersions, filterFleet, parseFleetSearch, totalsOf } from "./filters.ts";

const state = (name: StateName, reason = "Because", message = ""): ObjectState => ({
  state: name,
  reason,
  message,
  since: "2026-01-01T00:00:00Z",
});

const row = (name: string, more: Partial<FleetRow> = {}): FleetRow => ({
  namespace: "default",
  name,
  phase: "Provisioned",
  version: "v1.34.4",
  chips: [["Available", "True"]],
  controlPlane: [1, 1],
  workers: [1, 1],
  providers: ["memory"],
  created: "2026-01-01T00:00:00Z",
  state: state("Healthy"),
  ...more,
});

const rows = [
  row("b", { providers: ["byo", "metal3"], version: "v1.9.0", workers: [0, 9] }),
  row("a", { state: state("Degraded", "NoHost", "no free host"), created: "2026-01-02T00:00:00Z" }),
  row("c", { namespace: "edge" }),
];
const names = (search: Parameters<typeof filterFleet>[1]): string =>
  filterFleet(rows, search)
    .map((r) => r.name)
    .join("");

test.each([
  [{}, "abc"],
  [{ problems: true }, "a"],
  [{ namespace: "edge" }, "c"],
  [{ provider: "metal3" }, "b"],
  [{ version: "v1.9.0" }, "b"],
  [{ q: "free HOST" }, "a"],
  [{ q: "edge/c" }, "c"],
  [{ q: "nothing like it" }, ""],
  [{ sort: "version" }, "bac"],
  [{ sort: "workers", desc: true }, "bca"],
  [{ sort: "age" }, "abc"],
  [{ sort: "problem" }, "abc"],
] as const)("%j shows %s", (search, expected) => {
  expect(names(search)).toBe(expected);
});

test("counts only states that need attention as problems, and sorts the worst first", () => {
  const states: StateName[] = ["Healthy", "Hibernated", "Paused", "Progressing", "Unknown", "Degraded"];
  const all = states.map((name) => row(name.toLowerCase(), { state: state(name), workers: [5, 7] }));
  expect(filterFleet(all, { problems: true }).map(({ name }) => name)).toEqual(["degraded", "unknown"]);
  expect(filterFleet(all, { sort: "problem" }).map(({ name }) => name)).toEqual(
    [...states].reverse().map((name) => name.toLowerCase()),
  );
  expect(totalsOf(all)).toEqual({ clusters: 6, healthy: 1, progressing: 1, problems: 2, workers: [30, 42] });
});

test("ignores invalid parts of the URL", () => {
  expect(parseFleetSearch({ q: 12, problems: "yes", sort: "nonsense", namespace: {}, desc: true })).toEqual({
    q: "12",
    desc: true,
  });
  expect(parseFleetSearch({ q: "x", problems: true, sort: "age", provider: "byo" })).toEqual({
    q: "x",
    problems: true,
    sort: "age",
    provider: "byo",
  });
});

test("compares versions numerically; offers existing values only", () => {
  expect(compareVersions("v1.9.0", "v1.34.4")).toBeLessThan(0);
  expect(choicesOf(rows)).toEqual({
    namespaces: ["default", "edge"],
    providers: ["byo", "memory", "metal3"],
    versions: ["v1.34.4", "v1.9.0"],
  });
});
