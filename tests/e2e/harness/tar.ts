import { closeSync, openSync, readSync, writeSync } from "node:fs";

/** One member of an archive: a folder, a symbolic link, bytes, or a file of the machine. */
export type TarEntry = { readonly path: string; readonly mode?: number } & (
  | { readonly directory: true }
  | { readonly link: string }
  | { readonly content: string | Uint8Array }
  | { readonly file: string; readonly size: number }
);

const block = 512;
const chunk = 1 << 20;

/**
 * Writes a ustar archive with owner root and time zero, so that equal content gives equal bytes. Every chunk also goes to
 * `observe`, for a digest along the way.
 */
export function writeTar(target: string, entries: Iterable<TarEntry>, observe?: (bytes: Uint8Array) => void): void {
  const out = openSync(target, "w");
  const write = (bytes: Uint8Array): void => {
    observe?.(bytes);
    for (let done = 0; done < bytes.length; ) done += writeSync(out, bytes, done);
  };
  try {
    for (const entry of entries) {
      if ("directory" in entry) write(header(entry, "5", 0, 0o755));
      else if ("link" in entry) write(header(entry, "2", 0, 0o777, entry.link));
      else if ("content" in entry) {
        const bytes = Buffer.from(entry.content);
        write(header(entry, "0", bytes.length, 0o644));
        write(bytes);
        write(padding(bytes.length));
      } else {
        write(header(entry, "0", entry.size, 0o644));
        copyFile(entry.file, entry.size, write);
        write(padding(entry.size));
      }
    }
    write(Buffer.alloc(2 * block));
  } finally {
    closeSync(out);
  }
}

function header(entry: TarEntry, type: string, size: number, mode: number, link = ""): Uint8Array {
  const name = type === "5" ? `${entry.path}/` : entry.path;
  for (const text of [name, link])
    if (Buffer.byteLength(text) > 100) throw new Error(`${text}: longer than the 100 bytes of a ustar name`);
  const bytes = Buffer.alloc(block);
  const octal = (value: number, offset: number, width: number): void => {
    bytes.write(`${value.toString(8).padStart(width - 1, "0")}\0`, offset, "latin1");
  };
  bytes.write(name, 0);
  octal(entry.mode ?? mode, 100, 8);
  octal(0, 108, 8);
  octal(0, 116, 8);
  octal(size, 124, 12);
  octal(0, 136, 12);
  bytes.write(" ".repeat(8), 148);
  bytes.write(type, 156);
  bytes.write(link, 157);
  bytes.write("ustar\x0000root", 257, "latin1");
  bytes.write("root", 297);
  octal(
    bytes.reduce((sum, byte) => sum + byte, 0),
    148,
    7,
  );
  return bytes;
}

function copyFile(file: string, size: number, write: (bytes: Uint8Array) => void): void {
  const source = openSync(file, "r");
  try {
    const buffer = Buffer.alloc(chunk);
    for (let left = size; left > 0; ) {
      const count = readSync(source, buffer, 0, Math.min(chunk, left), null);
      if (count === 0) throw new Error(`${file} became shorter while it was read`);
      write(buffer.subarray(0, count));
      left -= count;
    }
  } finally {
    closeSync(source);
  }
}

function padding(size: number): Uint8Array {
  return Buffer.alloc((block - (size % block)) % block);
}
