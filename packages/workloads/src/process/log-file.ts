import { copyFile, open, stat, truncate } from "node:fs/promises";

const ROTATE_AT_BYTES = 16 * 1024 * 1024;
/** The stacks of all goroutines stand behind what Go's runtime ends with. */
const TAIL_BYTES = 64 * 1024;

/** Rotates a log, keeping one old file. It copies and truncates, because the program keeps the file open for appending. */
export async function rotateLog(path: string): Promise<void> {
  const size = (await stat(path).catch(() => undefined))?.size ?? 0;
  if (size < ROTATE_AT_BYTES) return;
  await copyFile(path, `${path}.1`);
  await truncate(path, 0);
}

/** Returns the end of a log. */
export async function readLogTail(path: string, bytes = TAIL_BYTES): Promise<string> {
  const file = await open(path, "r").catch(() => undefined);
  if (file === undefined) return "";
  try {
    const { size } = await file.stat();
    const length = Math.min(size, bytes);
    const buffer = Buffer.alloc(length);
    await file.read(buffer, 0, length, size - length);
    return buffer.toString("utf8");
  } finally {
    await file.close();
  }
}

/**
 * The line that most likely says why a program ended: the last one that looks like an error, else the last one. Understands klog
 * (`E1115 …`, `F1115 …`), zap's JSON (etcd), cobra's `Error: …`, what Go's own flags say before the usage, and what its runtime ends
 * with before the stacks.
 */
export function lastErrorLine(log: string): string {
  const lines = log.split("\n").filter((line) => line.trim() !== "");
  const worst = lines.findLast(
    (line) =>
      /^(F\d{4} |Error: |error: |panic: |fatal error: |\[signal )/.test(line) ||
      /^(flag provided but not defined|invalid (boolean )?value .* for )/.test(line) ||
      /"level":"(fatal|panic)"/.test(line),
  );
  const error = worst ?? lines.findLast((line) => /^E\d{4} /.test(line) || /"level":"error"/.test(line));
  return shorten(logged(error, lines) ?? error ?? lines.at(-1) ?? "");
}

/** zap logs why it panics and then panics with the message alone: the line before says more. */
function logged(error: string | undefined, lines: readonly string[]): string | undefined {
  if (error?.startsWith("panic: ") !== true) return undefined;
  const message = JSON.stringify(error.slice("panic: ".length));
  return lines.findLast((line) => /"level":"(fatal|panic)"/.test(line) && line.includes(`"msg":${message}`));
}

function shorten(line: string): string {
  if (line.startsWith("{")) {
    try {
      const entry = JSON.parse(line) as { msg?: string; error?: string };
      if (entry.msg !== undefined) return entry.error === undefined ? entry.msg : `${entry.msg}: ${entry.error}`;
    } catch {
      // Not JSON after all: the raw line serves.
    }
  }
  // klog's prefix (severity, time, pid, file) says nothing to a reader of a condition.
  return line.replace(/^[EFIW]\d{4} [\d:.]+ +\d+ [^\]]*\] /, "").slice(0, 500);
}
