/** What the last commits touched. Without usable history nothing counts as touched, and the rotation decides alone. */
import { spawnSync } from "node:child_process";

/** Commits that may belong to the last landing: at most so many, and not older than so many hours before the newest. */
const COMMITS = 40;
const HOURS = 6;

/**
 * Reads the newest commit of a checkout and the paths that the last landing touched.
 * @param {string} root
 */
export function recentChanges(root) {
  const args = ["-c", "core.quotePath=false", "log", `-n${COMMITS}`, "--format=%x00%H %ct %p", "--name-only"];
  const { status, stdout } = spawnSync("git", args, { cwd: root, encoding: "utf8", maxBuffer: 1 << 28 });
  return changesIn(status === 0 ? stdout : "");
}

/**
 * @param {string} log Of each commit a NUL, a line with its hash, time and parents, and the paths it touched.
 * @returns {{ commit: string; commits: number; touched: string[] }}
 */
export function changesIn(log) {
  const commits = log.split("\0").flatMap((entry) => {
    const [head = "", ...paths] = entry.split("\n");
    const [hash = "", time = "", ...parents] = head.trim().split(" ");
    return hash === "" ? [] : { hash, time: Number(time), parents, paths: paths.filter((path) => path !== "") };
  });
  const newest = commits[0];
  if (newest === undefined) return { commit: "unknown", commits: 0, touched: [] };
  // git lists the whole tree for a commit without a parent, and so does the oldest commit of a shallow clone.
  const recent = commits.filter(({ time, parents }) => parents.length > 0 && time >= newest.time - HOURS * 3600);
  return {
    commit: newest.hash,
    commits: recent.length,
    touched: [...new Set(recent.flatMap(({ paths }) => paths))],
  };
}
