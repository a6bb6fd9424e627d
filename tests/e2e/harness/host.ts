import { accessSync, constants } from "node:fs";
import { join } from "node:path";
import { mustRun } from "../../real-kubernetes/index.ts";

/** Programs the harness calls on the machine, and the Debian package each comes from. */
const needs: Readonly<Record<string, string>> = {
  debootstrap: "debootstrap",
  ip: "iproute2",
  isoinfo: "genisoimage",
  nsenter: "util-linux",
  setpriv: "util-linux",
  sysctl: "procps",
  unshare: "util-linux",
};

/** Fails with the cure unless the process may make namespaces, mounts and network devices. */
export function requireRoot(): void {
  if (process.getuid?.() !== 0)
    throw new Error("end-to-end tests make network, mount and process namespaces: run them as root (sudo npm run e2e)");
}

/** Installs with apt what is missing on the machine; a machine without apt gets the list in the error. */
export async function ensureHostPrograms(): Promise<void> {
  const missing = Object.keys(needs).filter((program) => !onPath(program));
  if (missing.length === 0) return;
  const packages = [...new Set(missing.map((program) => needs[program] ?? program))];
  if (!onPath("apt-get"))
    throw new Error(`missing on this machine: ${missing.join(", ")}; install ${packages.join(", ")}`);
  await aptInstall(packages);
}

/** Installs one package with apt. */
export async function ensureHostPackage(name: string): Promise<void> {
  if (!onPath("apt-get")) throw new Error(`missing on this machine: ${name}`);
  await aptInstall([name]);
}

async function aptInstall(packages: readonly string[]): Promise<void> {
  const env = { DEBIAN_FRONTEND: "noninteractive" };
  await mustRun("apt-get", ["update", "-qq"], { env });
  await mustRun("apt-get", ["install", "-y", "-qq", "--no-install-recommends", ...packages], { env });
}

function onPath(program: string): boolean {
  const folders = [...(process.env["PATH"] ?? "").split(":"), "/usr/sbin", "/sbin"];
  return folders.some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
