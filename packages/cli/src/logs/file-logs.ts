import { open, readdir } from "node:fs/promises";
import { join } from "node:path";
import type { LogSource } from "./log-source.ts";

/** Enough for the last lines of any component; logs are rotated at 16 MiB. */
const TAIL_BYTES = 1 << 20;

/** Returns the log files of a control plane's processes in its folder; empty when it does not run on this machine. */
export async function fileLogs(folder: string): Promise<LogSource[]> {
  const programs = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const found: LogSource[] = [];
  for (const entry of programs.filter((each) => each.isDirectory()).sort((a, b) => a.name.localeCompare(b.name))) {
    const names: string[] = await readdir(join(folder, entry.name)).catch(() => []);
    const file = `${entry.name}.log`;
    if (names.includes(file)) found.push(new FileLog(entry.name, join(folder, entry.name, file)));
  }
  return found;
}

class FileLog implements LogSource {
  readonly component: string;
  readonly #path: string;
  #offset = 0;

  constructor(component: string, path: string) {
    this.component = component;
    this.#path = path;
  }

  async begin(count: number): Promise<string> {
    const handle = await open(this.#path);
    try {
      const { size } = await handle.stat();
      const start = count < 0 ? 0 : Math.max(0, size - TAIL_BYTES);
      const { buffer, bytesRead } = await handle.read({ buffer: Buffer.alloc(size - start), position: start });
      this.#offset = size;
      const lines = buffer.subarray(0, bytesRead).toString("utf8").trimEnd().split("\n");
      return (count < 0 ? lines : lines.slice(Math.max(0, lines.length - count))).join("\n");
    } finally {
      await handle.close();
    }
  }

  /** After a rotation, reads the new file from its beginning. */
  async next(): Promise<string> {
    const handle = await open(this.#path).catch(() => undefined);
    if (handle === undefined) return "";
    try {
      const { size } = await handle.stat();
      if (size < this.#offset) this.#offset = 0;
      if (size === this.#offset) return "";
      const { buffer, bytesRead } = await handle.read({
        buffer: Buffer.alloc(size - this.#offset),
        position: this.#offset,
      });
      const text = buffer.subarray(0, bytesRead).toString("utf8");
      // A line is shown once it is complete.
      const whole = text.slice(0, text.lastIndexOf("\n") + 1);
      this.#offset += Buffer.byteLength(whole);
      return whole;
    } finally {
      await handle.close();
    }
  }
}
