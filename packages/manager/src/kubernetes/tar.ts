import { createReadStream, createWriteStream } from "node:fs";
import { join } from "node:path";
import { Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";

const BLOCK = 512;

/** Unpacks the wanted files of a .tar.gz by base name into a folder, executable; other entries are passed over. */
export async function extractFiles(archive: string, names: readonly string[], into: string): Promise<string[]> {
  const extractor = new TarExtractor(names, into);
  await pipeline(createReadStream(archive), createGunzip(), extractor);
  return extractor.extracted;
}

/** Reads the old tar format, which is all that release archives use: name, octal size, then the bytes padded to 512. */
class TarExtractor extends Writable {
  readonly extracted: string[] = [];
  readonly #names: readonly string[];
  readonly #into: string;
  #pending: Buffer = Buffer.alloc(0);
  #remaining = 0;
  #padding = 0;
  #out: ReturnType<typeof createWriteStream> | undefined;

  constructor(names: readonly string[], into: string) {
    super();
    this.#names = names;
    this.#into = into;
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#pending = this.#pending.length === 0 ? chunk : Buffer.concat([this.#pending, chunk]);
    this.#advance().then(() => done(), done);
  }

  override _final(done: (error?: Error | null) => void): void {
    done(this.#remaining > 0 ? new Error("the archive ends in the middle of a file") : null);
  }

  async #advance(): Promise<void> {
    for (;;) {
      if (this.#remaining > 0) {
        if (this.#pending.length === 0) return;
        const part = this.#pending.subarray(0, this.#remaining);
        this.#pending = this.#pending.subarray(part.length);
        this.#remaining -= part.length;
        await this.#put(part);
        if (this.#remaining > 0) return;
        await this.#close();
      }
      const skip = Math.min(this.#padding, this.#pending.length);
      this.#pending = this.#pending.subarray(skip);
      this.#padding -= skip;
      if (this.#padding > 0 || this.#pending.length < BLOCK) return;
      this.#header(this.#pending.subarray(0, BLOCK));
      this.#pending = this.#pending.subarray(BLOCK);
    }
  }

  #header(block: Buffer): void {
    const name = block.subarray(0, 100).toString("utf8").split("\0")[0] ?? "";
    if (name === "") return;
    const size = Number.parseInt(block.subarray(124, 136).toString("ascii").trim() || "0", 8);
    const base = name.split("/").at(-1) ?? "";
    const regular = block[156] === 0 || block[156] === 0x30;
    this.#remaining = size;
    this.#padding = (BLOCK - (size % BLOCK)) % BLOCK;
    if (regular && this.#names.includes(base)) {
      this.#out = createWriteStream(join(this.#into, base), { mode: 0o755 });
      this.extracted.push(base);
    }
  }

  async #put(part: Buffer): Promise<void> {
    const out = this.#out;
    if (out === undefined) return;
    if (!out.write(part))
      await new Promise<void>((resolve, reject) => out.once("drain", resolve).once("error", reject));
  }

  async #close(): Promise<void> {
    const out = this.#out;
    this.#out = undefined;
    if (out !== undefined) await new Promise<void>((resolve, reject) => out.once("error", reject).end(resolve));
  }
}
