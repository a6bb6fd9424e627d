/** Debian's cloud-init in a folder of the cache: unpacked and never installed, so that nothing of it runs when a machine boots. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

const PACKAGES = ["cloud-init"];

/** Debian's own Python: the packages' modules are built for it. */
const PYTHON = "/usr/bin/python3";

/** @returns {{ python: string, modules: string }} */
export function ensureCloudInit() {
  const cache =
    process.env["CAPSTAN_CACHE"] ?? join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "capstan");
  const folder = join(cache, "cloud-init");
  const modules = join(folder, "usr/lib/python3/dist-packages");
  if (!existsSync(PYTHON)) run("apt-get", "install", "-y", "-qq", "python3");
  if (!existsSync(join(modules, "cloudinit"))) unpack(folder);
  return { python: PYTHON, modules };
}

/** @param {string} folder */
function unpack(folder) {
  const temporary = `${folder}.${process.pid}`;
  const archives = join(temporary, "archives");
  mkdirSync(join(archives, "partial"), { recursive: true });
  try {
    run("apt-get", "update", "-qq");
    // What the machine has installed already is not downloaded, and is found by its Python.
    const where = ["-o", `Dir::Cache::archives=${archives}`, "-o", "APT::Sandbox::User=root"];
    run("apt-get", "install", "-y", "-qq", "--download-only", "--no-install-recommends", ...where, ...PACKAGES);
    const files = readdirSync(archives).filter((name) => name.endsWith(".deb"));
    for (const file of files) run("dpkg-deb", "-x", join(archives, file), temporary);
    rmSync(archives, { recursive: true });
    rmSync(folder, { recursive: true, force: true });
    renameSync(temporary, folder);
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

/**
 * @param {string} program
 * @param {string[]} args
 */
function run(program, ...args) {
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive", LC_ALL: "C" };
  const { status, error } = spawnSync(program, args, { env, stdio: ["ignore", "ignore", "inherit"] });
  if (status !== 0)
    throw new Error(
      `${program} ${args[0]} failed: cloud-init's packages come from Debian or Ubuntu, as root (${error?.message ?? status})`,
    );
}
