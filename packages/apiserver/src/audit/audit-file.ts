import { createWriteStream, type WriteStream } from "node:fs";
import { rename, stat } from "node:fs/promises";
import type { AuditSink } from "./audit.ts";

/** Default size at which a file is rotated. */
const MAX_BYTES = 100 * 1024 * 1024;
const KEEP = 5;

/** Appends lines to a file that only its owner can read; a full file becomes `PATH.1`, the oldest is dropped. */
export async function auditFile(
  path: string,
  options: { maxBytes?: number; keep?: number; onError(error: unknown): void },
): Promise<{ sink: AuditSink; close(): Promise<void> }> {
  const maxBytes = options.maxBytes ?? MAX_BYTES;
  const keep = options.keep ?? KEEP;
  const open = (): WriteStream =>
    createWriteStream(path, { flags: "a", mode: 0o600 }).on("error", (error) => options.onError(error));
  let size = await stat(path).then(
    (found) => found.size,
    () => 0,
  );
  let stream = open();
  let turning: Promise<void> | undefined;
  let waiting: string[] = [];

  const turn = async (): Promise<void> => {
    await new Promise<void>((resolve) => stream.end(resolve));
    for (let i = keep - 1; i >= 1; i--) await rename(`${path}.${i}`, `${path}.${i + 1}`).catch(() => {});
    await rename(path, `${path}.1`);
    size = 0;
  };
  const write = (line: string): void => {
    size += Buffer.byteLength(line) + 1;
    stream.write(`${line}\n`);
  };
  const sink: AuditSink = (line) => {
    if (turning !== undefined) {
      waiting.push(line);
      return;
    }
    write(line);
    if (size < maxBytes) return;
    turning = turn()
      .catch((error: unknown) => options.onError(error))
      .then(() => {
        stream = open();
        turning = undefined;
        const lines = waiting;
        waiting = [];
        for (const late of lines) sink(late);
      });
  };
  return {
    sink,
    close: async () => {
      while (turning !== undefined) await turning;
      await new Promise<void>((resolve) => stream.end(resolve));
    },
  };
}
