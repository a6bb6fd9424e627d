import { createReadStream } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";

const BLOCK = 512;

/** Extracts the wanted files of a .tar.gz by base name into a folder; other entries, including links, are skipped. */
export async function extractFiles(archive: string, names: readonly string[], into: string): Promise<string[]> {
  const extractor = new TarExtractor(names, into);
  try {
    await pipeline(createReadStream(archive), createGunzip(), async (chunks: AsyncIterable<Buffer>) => {
      for await (const chunk of chunks) await extractor.take(chunk);
    });
    extractor.end();
  } finally {
    await extractor.close();
  }
  return extractor.extracted;
}

/** Reads the old tar format, which is all that release archives use: name, octal size, then the bytes padded to 512. */
class TarExtractor {
  readonly extracted: string[] = [];
  readonly #names: readonly string[];
  readonly #into: string;
  #pending: Buffer = Buffer.alloc(0);
  #remaining = 0;
  #padding = 0;
  #out: FileHandle | undefined;

  constructor(names: readonly string[], into: string) {
    this.#names = names;
    this.#into = into;
  }

  async take(chunk: Buffer): Promise<void> {
    this.#pending = this.#pending.length === 0 ? chunk : Buffer.concat([this.#pending, chunk]);
    for (;;) {
      if (this.#remaining > 0) {
        if (this.#pending.length === 0) return;
        const part = this.#pending.subarray(0, this.#remaining);
        this.#pending = this.#pending.subarray(part.length);
        this.#remaining -= part.length;
        await this.#out?.appendFile(part);
        if (this.#remaining > 0) return;
        await this.close();
      }
      const skip = Math.min(this.#padding, this.#pending.length);
      this.#pending = this.#pending.subarray(skip);
      this.#padding -= skip;
      if (this.#padding > 0 || this.#pending.length < BLOCK) return;
      await this.#header(this.#pending.subarray(0, BLOCK));
      this.#pending = this.#pending.subarray(BLOCK);
    }
  }

  end(): void {
    if (this.#remaining > 0) throw new Error("the archive is truncated in the middle of a file");
  }

  async close(): Promise<void> {
    const out = this.#out;
    this.#out = undefined;
    await out?.close();
  }

  async #header(block: Buffer): Promise<void> {
    const name = block.subarray(0, 100).toString("utf8").split("\0")[0] ?? "";
    if (name === "") return;
    const size = Number.parseInt(block.subarray(124, 136).toString("ascii").trim() || "0", 8);
    const base = name.split("/").at(-1) ?? "";
    const regular = block[156] === 0 || block[156] === 0x30;
    this.#remaining = size;
    this.#padding = (BLOCK - (size % BLOCK)) % BLOCK;
    if (!regular || !this.#names.includes(base)) return;
    // Only what does not exist yet: a second entry of that name does not replace the first.
    this.#out = await open(join(this.#into, base), "wx");
    this.extracted.push(base);
  }
}
