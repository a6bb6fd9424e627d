import { createReadStream, createWriteStream } from "node:fs";
import { constants, copyFile, open, rename, rm } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { ImageError } from "../disks/image-header.ts";

/** Moves or unpacks what was fetched to `target`; nothing is at `target` unless it is complete. */
export async function unpack(source: { file: string; keep: boolean }, target: string, maxBytes: number): Promise<void> {
  await rm(target, { force: true });
  try {
    if (await isGzip(source.file)) {
      await gunzip(source.file, target, maxBytes);
      if (!source.keep) await rm(source.file);
    } else if (source.keep) {
      // A copy that shares its blocks where the file system can: the original may change while machines run on it.
      await copyFile(source.file, target, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
    } else await rename(source.file, target);
  } catch (error) {
    await rm(target, { force: true });
    throw error;
  }
}

async function isGzip(file: string): Promise<boolean> {
  const handle = await open(file, "r");
  try {
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(2), 0, 2, 0);
    return bytesRead === 2 && buffer.readUInt16BE(0) === 0x1f8b;
  } finally {
    await handle.close();
  }
}

/** A few kilobytes can unpack to terabytes: what is too large is refused while it is written. */
async function gunzip(file: string, target: string, maxBytes: number): Promise<void> {
  let written = 0;
  await pipeline(
    createReadStream(file),
    createGunzip(),
    async function* (chunks: AsyncIterable<Buffer>) {
      for await (const chunk of chunks) {
        written += chunk.length;
        if (written > maxBytes)
          throw new ImageError("unusable", `the image unpacks to more than ${maxBytes} bytes, the largest allowed`);
        yield chunk;
      }
    },
    createWriteStream(target, { flags: "wx", mode: 0o600, flush: true }),
  );
}
