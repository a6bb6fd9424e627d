import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Clock } from "@capstan/apimachinery";
import type { QemuImg } from "./ensure-disk.ts";

const run = promisify(execFile);
/** What it does here, writing headers, takes milliseconds. */
const TIME_LIMIT_MS = 60_000;

/** The qemu-img of this machine. */
export function qemuImgProgram(clock: Clock, program = "qemu-img"): QemuImg {
  return async (args) => {
    const timeout = new AbortController();
    const cancel = clock.after(TIME_LIMIT_MS, () => timeout.abort());
    try {
      await run(program, [...args], { signal: timeout.signal });
    } catch (error) {
      const { stderr = "", message } = error as { stderr?: string; message: string };
      const reason = timeout.signal.aborted ? `no end within ${TIME_LIMIT_MS / 1000} s` : stderr.trim().slice(-500);
      throw new Error(`qemu-img ${args[0] ?? ""} failed: ${reason || message}`, { cause: error });
    } finally {
      cancel();
    }
  };
}
