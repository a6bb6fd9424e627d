/** A copy of the tree to put mutants into: the tree itself is never touched. */
import { spawnSync } from "node:child_process";
import { cpSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, readlinkSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/**
 * Copies the files that git knows or would know, and links the installed packages.
 * @param {string} root
 * @returns {string} The folder of the copy.
 */
export function copyTree(root) {
  const { status, stdout } = spawnSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 1 << 28,
  });
  if (status !== 0) throw new Error("cannot list the files of the tree: is it a git checkout?");
  const copy = mkdtempSync(join(tmpdir(), "capstan-mutants-"));
  for (const file of stdout.split("\0")) {
    // A file that was deleted and not yet committed is still listed.
    if (file === "" || lstatSync(join(root, file), { throwIfNoEntry: false }) === undefined) continue;
    mkdirSync(dirname(join(copy, file)), { recursive: true });
    cpSync(join(root, file), join(copy, file), { verbatimSymlinks: true });
  }
  linkModules(join(root, "node_modules"), join(copy, "node_modules"));
  return copy;
}

/** Packages of the workspace are links into the tree and have to lead into the copy. @param {string} from @param {string} to */
function linkModules(from, to) {
  mkdirSync(to, { recursive: true });
  for (const name of readdirSync(from)) {
    if (name === "@capstan") {
      mkdirSync(join(to, name), { recursive: true });
      for (const entry of readdirSync(join(from, name)))
        symlinkSync(readlinkSync(join(from, name, entry)), join(to, name, entry));
    } else if (name !== ".cache" && name !== ".vite") symlinkSync(join(from, name), join(to, name));
  }
}
