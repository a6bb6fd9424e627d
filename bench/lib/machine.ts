import { readFileSync } from "node:fs";
import { cpus } from "node:os";

/** Ticks all processors have spent since boot: at work, and ready to work while the host ran other machines. */
interface Ticks {
  worked: number;
  stolen: number;
}

function ticks(): Ticks {
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0, steal = 0] = readFileSync("/proc/stat", "utf8")
    .slice("cpu ".length, 400)
    .trim()
    .split(/\s+/)
    .map(Number);
  return { worked: user + nice + system + irq + softirq, stolen: steal };
}

const atStart = ticks();

/**
 * The processor time that the machine provided: on a busy host all times of a virtual machine are longer, ours and the peer's alike,
 * and only ratios and CPU seconds can be compared with other runs.
 */
export function machineDuringRun(): string {
  const now = ticks();
  const worked = now.worked - atStart.worked;
  const stolen = now.stolen - atStart.stolen;
  const share = worked + stolen === 0 ? 0 : (100 * stolen) / (worked + stolen);
  return `machine: ${cpus().length} processors, Node ${process.versions.node}; the host withheld ${share.toFixed(0)} % of the requested processor time`;
}
