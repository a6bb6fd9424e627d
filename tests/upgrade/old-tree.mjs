import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const root = resolve(import.meta.dirname, "../..");

/**
 * Calls a function with a scratch folder and the tree of an earlier commit in it, and removes both. The tree uses the installed
 * node_modules, except for the workspace's own packages.
 * @param {string} commit
 * @param {(places: { scratch: string; tree: string; vitest: (file: string) => void }) => void} record
 */
export function withOldTree(commit, record) {
  const scratch = mkdtempSync(join(tmpdir(), "capstan-upgrade-record-"));
  const tree = join(scratch, "tree");
  const run = (cwd, program, ...args) => execFileSync(program, args, { cwd, stdio: "inherit" });
  run(root, "git", "worktree", "add", "--detach", tree, commit);
  try {
    mkdirSync(join(tree, "node_modules"));
    for (const name of readdirSync(join(root, "node_modules"))) {
      const [from, to] = [join(root, "node_modules", name), join(tree, "node_modules", name)];
      if (name === "@capstan") cpSync(from, to, { recursive: true, verbatimSymlinks: true });
      else symlinkSync(from, to);
    }
    record({ scratch, tree, vitest: (file) => run(tree, "npx", "vitest", "run", file) });
  } finally {
    run(root, "git", "worktree", "remove", "--force", tree);
    rmSync(scratch, { recursive: true, force: true });
  }
}
