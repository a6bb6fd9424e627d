import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isRunning, processIdentity, writeFileAtomicSync } from "@capstan/os";
import { cacheDir } from "../../real-kubernetes/index.ts";

/** Machine-wide settings that kubelets change. */
const watchedSysctls = [
  "vm/overcommit_memory",
  "vm/panic_on_oom",
  "kernel/panic",
  "kernel/panic_on_oops",
  "kernel/keys/root_maxkeys",
  "kernel/keys/root_maxbytes",
];

/** What must be known to clean up after a run, even by another process. */
export interface RunRecord {
  readonly id: string;
  /** The owner, by process id and start time, since ids are used again. */
  readonly pid: number;
  readonly startTime: string;
  /** Machine-wide settings as they were before the first node. */
  readonly sysctls: Readonly<Record<string, string>>;
}

/** The folder of all runs; each has its own below. */
export function runsDir(): string {
  return join(cacheDir(), "e2e", "runs");
}

/** All runs on this machine that have not been cleaned up, alive or not. */
export function readRecords(): RunRecord[] {
  if (!existsSync(runsDir())) return [];
  return readdirSync(runsDir()).flatMap((id) => {
    const file = join(runsDir(), id, "run.json");
    if (existsSync(file)) return [JSON.parse(readFileSync(file, "utf8")) as RunRecord];
    return [];
  });
}

/** Whether the process that made a run still exists. */
export function isAlive(record: RunRecord): boolean {
  return isRunning({ pid: record.pid, startTime: Number(record.startTime) });
}

/** Writes down a new run of this process. Beside other runs the settings are already changed, so theirs are taken over. */
export function writeRecord(id: string): RunRecord {
  const others = readRecords().filter(isAlive);
  const record: RunRecord = {
    id,
    pid: process.pid,
    startTime: String(processIdentity(process.pid)?.startTime),
    sysctls: others[0]?.sysctls ?? readSysctls(),
  };
  mkdirSync(join(runsDir(), id), { recursive: true });
  writeFileAtomicSync(join(runsDir(), id, "run.json"), JSON.stringify(record));
  return record;
}

/** The last step of cleaning up: puts the machine-wide settings back unless others still run, removes the folder. */
export function eraseRecord(record: RunRecord): void {
  const others = readRecords().filter((other) => other.id !== record.id && isAlive(other));
  if (others.length === 0) {
    const now = readSysctls();
    for (const [name, value] of Object.entries(record.sysctls))
      if (now[name] !== value) writeFileSync(join("/proc/sys", name), value);
  }
  rmSync(join(runsDir(), record.id), { recursive: true, force: true });
}

function readSysctls(): Record<string, string> {
  const present = watchedSysctls.filter((name) => existsSync(join("/proc/sys", name)));
  return Object.fromEntries(present.map((name) => [name, readFileSync(join("/proc/sys", name), "utf8").trim()]));
}
