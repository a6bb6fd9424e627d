/** Size of a logical sector in bytes. */
export const SECTOR = 2048;

/** Returns how many sectors a number of bytes occupies. */
export function sectorsOf(bytes: number): number {
  return Math.ceil(bytes / SECTOR);
}

/** Encodes text padded with spaces to a fixed length, truncated when it is too long. */
export function text(value: string, length: number): Buffer {
  return Buffer.from(value.slice(0, length).padEnd(length, " "), "latin1");
}

/** Encodes text like `text`, in big-endian UCS-2 as Joliet requires. */
export function text16(value: string, length: number): Buffer {
  const count = Math.floor(length / 2);
  const filled = Buffer.alloc(length);
  Buffer.from(value.slice(0, count).padEnd(count, " "), "utf16le").swap16().copy(filled);
  return filled;
}

/** Encodes a date of a volume descriptor; zeros when there is none. */
export function dateText(ms: number | undefined): Buffer {
  const digits =
    ms === undefined
      ? "0".repeat(16)
      : new Date(ms)
          .toISOString()
          .replaceAll(/[^0-9]/g, "")
          .slice(0, 16);
  return Buffer.concat([Buffer.from(digits, "latin1"), Buffer.from([0])]);
}

/** Encodes a date of a directory record. */
export function dateBytes(ms: number): Buffer {
  const date = new Date(ms);
  return Buffer.from([
    date.getUTCFullYear() - 1900,
    date.getUTCMonth() + 1,
    date.getUTCDate(),
    date.getUTCHours(),
    date.getUTCMinutes(),
    date.getUTCSeconds(),
    0,
  ]);
}
