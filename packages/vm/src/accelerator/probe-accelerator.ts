import type { Clock } from "@capstan/apimachinery";
import { escaped } from "../arguments/escaped.ts";
import { DEBUG_EXIT_PORT, probeSector, RAN_EXIT_CODE } from "./boot-sector.ts";

/** TCG needs 0.9 s, and hardware less. */
const VERDICT_MS = 3000;

/** What runs a program for the probe. */
export interface ProbeRunner {
  /** Stores a file that the program reads, and returns its path. */
  store(content: Uint8Array): Promise<string>;
  /** Runs QEMU until it exits, or until the signal aborts: then it is killed before the promise settles. */
  run(args: readonly string[], signal: AbortSignal): Promise<{ exitCode: number | undefined; stderr: string }>;
}

/** Which accelerator machines use here, and why it is not KVM. */
export interface AcceleratorVerdict {
  accelerator: "kvm" | "tcg";
  message: string;
}

/**
 * Decides whether KVM works. That /dev/kvm exists says little: there are hosts whose KVM accepts a machine and never runs it. So a boot
 * sector has to run to its end.
 */
export async function probeAccelerator(runner: ProbeRunner, clock: Clock): Promise<AcceleratorVerdict> {
  const timeout = new AbortController();
  const args = probeArgs(await runner.store(probeSector()));
  const cancel = clock.after(VERDICT_MS, () => timeout.abort());
  try {
    const { exitCode, stderr } = await runner.run(args, timeout.signal);
    if (timeout.signal.aborted) return tcg(`a boot sector did not run to its end within ${VERDICT_MS / 1000} s`);
    if (exitCode === RAN_EXIT_CODE) return { accelerator: "kvm", message: "KVM works" };
    return tcg(lastLine(stderr) ?? `QEMU exited with code ${exitCode ?? "unknown"}`);
  } catch (error) {
    return tcg(error instanceof Error ? error.message : String(error));
  } finally {
    cancel();
  }
}

function tcg(reason: string): AcceleratorVerdict {
  return { accelerator: "tcg", message: `QEMU emulates the processor, since KVM does not work: ${reason}` };
}

/** A floppy, since SeaBIOS did not boot a read-only sector from other drives. */
function probeArgs(sector: string): string[] {
  return [
    ["-nodefaults", "-no-user-config", "-display", "none", "-m", "16", "-machine", "pc", "-accel", "kvm"],
    // The same processor as that of machines.
    ["-cpu", "host,pmu=off"],
    ["-drive", `file=${escaped(sector)},format=raw,if=floppy,readonly=on`, "-boot", "a"],
    ["-device", `isa-debug-exit,iobase=${DEBUG_EXIT_PORT},iosize=1`],
    ["-sandbox", "on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny"],
  ].flat();
}

const lastLine = (text: string): string | undefined => text.trim().split("\n").at(-1)?.slice(0, 300) || undefined;
