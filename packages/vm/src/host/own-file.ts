import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";

const TAIL_BYTES = 64 * 1024;

/**
 * Returns the end of a file that QEMU writes. A guest may have taken over the QEMU that runs it, and may have put a link in the place of the
 * file: neither links nor anything but a file with one name is followed.
 */
export async function readOwnTail(path: string, bytes = TAIL_BYTES): Promise<string> {
  return await withOwnFile(path, constants.O_RDONLY, "", async (file, size) => {
    const length = Math.min(size, bytes);
    const buffer = Buffer.alloc(length);
    const { bytesRead } = await file.read(buffer, 0, length, size - length);
    return buffer.toString("utf8", 0, bytesRead);
  });
}

/** Empties a file that QEMU appends to once it has more bytes, so that a guest cannot fill the disk of its host. */
export async function limitOwnFile(path: string, maxBytes: number): Promise<void> {
  await withOwnFile(path, constants.O_RDWR, undefined, async (file, size) => {
    if (size > maxBytes) await file.truncate(0);
  });
}

async function withOwnFile<T>(
  path: string,
  flags: number,
  instead: T,
  use: (file: FileHandle, size: number) => Promise<T>,
): Promise<T> {
  const file = await open(path, flags | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(() => undefined);
  if (file === undefined) return instead;
  try {
    const found = await file.stat();
    return found.isFile() && found.nlink === 1 ? await use(file, found.size) : instead;
  } finally {
    await file.close();
  }
}
