import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { CHECKS } from "./checks.ts";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "capstan-checks-"));
  for (const folder of ["bin", "run", "var/lib/containerd"]) mkdirSync(join(root, folder), { recursive: true });
  for (const name of ["mount", "umount"]) program(name, "exit 0");
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function program(name: string, body: string): void {
  writeFileSync(join(root, "bin", name), `#!/bin/bash\necho "${name} $*" >>${root}/calls\n${body}\n`);
  chmodSync(join(root, "bin", name), 0o755);
}

/** Runs one of the functions with its folders below the root of the test; returns its report. */
function run(name: string): string {
  const moved = CHECKS.replaceAll(/(?<![\w$}"])\/(mnt|lib|run|var)(?=\/)/g, `${root}/$1`);
  const fail = `fail() { printf '%s' "$*"; exit 1; }`;
  const { stdout, status } = spawnSync(
    "/bin/bash",
    ["-c", `set -o errexit -o nounset -o pipefail\n${fail}\n${moved}\n${name}`],
    { env: { PATH: `${root}/bin:${process.env["PATH"]}` }, encoding: "utf8" },
  );
  expect(status, stdout).toBe(stdout === "" ? 0 : 1);
  return stdout;
}

const calls = (): string =>
  existsSync(join(root, "calls")) ? readFileSync(join(root, "calls"), "utf8").replaceAll(root, "") : "";

describe("kernel modules of the outer node", () => {
  test("are mounted if there are any, and the rest of the folder is not visible any more", () => {
    mkdirSync(join(root, "mnt/outer-lib/modules"), { recursive: true });
    expect(run("take_modules")).toBe("");
    expect(calls()).toBe("mount --bind /mnt/outer-lib/modules /lib/modules\numount -R /mnt/outer-lib\n");
  });

  test("are not needed, and no folder is made for them", () => {
    mkdirSync(join(root, "mnt/outer-lib"), { recursive: true });
    expect(run("take_modules")).toBe("");
    expect(calls()).toBe("umount -R /mnt/outer-lib\n");
    expect(existsSync(join(root, "mnt/outer-lib/modules"))).toBe(false);
    rmSync(join(root, "mnt"), { recursive: true });
    expect(run("take_modules")).toBe("");
  });
});

test("an outer node without inotify instances is reported with the settings to change", () => {
  expect(run("check_inotify"), "of this machine").toBe("");
  program("tail", 'echo "tail: inotify cannot be used, reverting to polling: Too many open files" >&2');
  expect(run("check_inotify")).toContain("sysctl fs.inotify.max_user_instances=8192");
});

test("containerd on an overlay file system is reported with what to mount", () => {
  program("stat", "echo overlayfs");
  expect(run("check_overlay")).toContain("mount an emptyDir or a claim there");
  program("stat", "echo ext2/ext3");
  expect(run("check_overlay")).toBe("");
});
