import { execFile } from "node:child_process";
import { chmod, mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "@capstan/apimachinery";
import { type AcceleratorVerdict, type ProbeRunner, probeAccelerator } from "../accelerator/probe-accelerator.ts";
import { VmProblem } from "../runner/vm-status.ts";
import { asUser, type VmUser } from "./vm-user.ts";

/** The first version with datagram networks, which segments are. */
const OLDEST = [7, 2] as const;
const VERSION_MS = 10_000;

/** QEMU on this host, and what it can do. */
export interface QemuProgram {
  readonly program: string;
  /** Its version; throws a VmProblem when it is missing or too old. */
  version(): Promise<string>;
  /** Which accelerator works; that KVM works is found out once. */
  accelerator(): Promise<AcceleratorVerdict>;
}

/** How to run QEMU. */
export interface QemuProgramOptions {
  clock: Clock;
  program?: string | undefined;
  /** An existing folder for the boot sector that probes KVM; other users may enter it. */
  folder: string;
  /** The user that runs the probe, when the manager is root. */
  user?: (() => Promise<VmUser>) | undefined;
}

/** Returns the QEMU of this host. */
export function qemuProgram({ clock, program = "qemu-system-x86_64", folder, user }: QemuProgramOptions): QemuProgram {
  const run = async (args: readonly string[], signal: AbortSignal): Promise<Ran> => {
    const as = await user?.();
    return await execute(as === undefined ? { command: program, args } : asUser(as, program, args), signal);
  };
  let version: string | undefined;
  let verdict: Promise<AcceleratorVerdict> | undefined;
  // A failure may be transient, such as a host that is busy.
  const lasting = (probing: Promise<AcceleratorVerdict>): Promise<AcceleratorVerdict> => {
    const forget = (): void => void (verdict = undefined);
    probing.then(({ accelerator }) => (accelerator === "kvm" ? undefined : forget()), forget);
    return probing;
  };
  return {
    program,
    version: async () => (version ??= await versionOf(program, run, clock)),
    accelerator: () => (verdict ??= lasting(probe(folder, run, clock))),
  };
}

async function probe(folder: string, run: ProbeRunner["run"], clock: Clock): Promise<AcceleratorVerdict> {
  const own = await mkdtemp(join(folder, ".probe-"));
  try {
    // The user that runs the probe reads the sector.
    await chmod(own, 0o711);
    const store = async (content: Uint8Array): Promise<string> => {
      const file = join(own, "sector.img");
      await writeFile(file, content, { mode: 0o644 });
      return file;
    };
    return await probeAccelerator({ store, run }, clock);
  } finally {
    await rm(own, { recursive: true, force: true });
  }
}

/** The group that may open /dev/kvm, if there is one besides root's. */
export async function kvmGroups(device = "/dev/kvm"): Promise<number[]> {
  const found = await stat(device).catch(() => undefined);
  return found === undefined || found.gid === 0 ? [] : [found.gid];
}

interface Ran {
  exitCode: number | undefined;
  stdout: string;
  stderr: string;
}

function execute({ command, args }: { command: string; args: readonly string[] }, signal: AbortSignal): Promise<Ran> {
  return new Promise((resolve, reject) => {
    const child = execFile(command, [...args], { signal, killSignal: "SIGKILL" }, (error, stdout, stderr) => {
      if (error !== null && child.exitCode === null && !signal.aborted) reject(error);
      else resolve({ exitCode: child.exitCode ?? undefined, stdout, stderr });
    });
  });
}

async function versionOf(
  program: string,
  run: (args: readonly string[], signal: AbortSignal) => Promise<Ran>,
  clock: Clock,
): Promise<string> {
  const timeout = new AbortController();
  const cancel = clock.after(VERSION_MS, () => timeout.abort());
  let ran: Ran;
  try {
    ran = await run(["--version"], timeout.signal);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new VmProblem("QemuNotFound", `cannot run ${program}: ${reason}; install QEMU on this host`, {
      cause: error,
    });
  } finally {
    cancel();
  }
  const [, found = "", major = "0", minor = "0"] = /version ((\d+)\.(\d+)[\d.]*)/.exec(ran.stdout) ?? [];
  // setpriv starts, and reports that it does not find the program.
  if (found === "")
    throw new VmProblem(
      "QemuNotFound",
      `cannot run ${program}: ${ran.stderr.trim().slice(-300)}; install QEMU on this host`,
    );
  if (Number(major) < OLDEST[0] || (Number(major) === OLDEST[0] && Number(minor) < OLDEST[1]))
    throw new VmProblem("QemuTooOld", `${program} is version ${found}; machines need ${OLDEST.join(".")} or later`);
  return found;
}
