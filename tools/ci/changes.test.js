import { expect, test } from "vitest";
import { changesIn } from "./changes.mjs";

const NOW = 1_800_000_000;

/**
 * A commit as `git log --format=%x00%H %ct %p --name-only` prints it.
 * @param {string} hash
 * @param {number} hoursAgo
 * @param {string} parents
 * @param {string[]} paths
 */
const commit = (hash, hoursAgo, parents, paths) =>
  `\0${hash} ${NOW - hoursAgo * 3600} ${parents}\n${paths.length > 0 ? `\n${paths.join("\n")}\n` : ""}`;

test("collects the paths of commits shortly before the newest one", () => {
  const log = [
    commit("aaa", 0, "bbb", ["docs/x.md", "src/a b.ts"]),
    commit("bbb", 2, "ccc ddd", []),
    commit("ccc", 3, "eee", ["docs/x.md", "src/c.ts"]),
    commit("eee", 7, "fff", ["src/old.ts"]),
  ].join("");
  expect(changesIn(log)).toEqual({ commit: "aaa", commits: 3, touched: ["docs/x.md", "src/a b.ts", "src/c.ts"] });
});

test("ignores the whole tree that a shallow clone shows for its oldest commit", () => {
  const log = commit("aaa", 0, "bbb", ["src/a.ts"]) + commit("bbb", 0, "", ["src/a.ts", "src/everything.ts"]);
  expect(changesIn(log)).toEqual({ commit: "aaa", commits: 1, touched: ["src/a.ts"] });
  expect(changesIn(commit("bbb", 0, "", ["src/everything.ts"]))).toEqual({ commit: "bbb", commits: 0, touched: [] });
});

test("touches nothing without history", () => {
  expect(changesIn("")).toEqual({ commit: "unknown", commits: 0, touched: [] });
});
