import { dateBytes } from "./iso-text.ts";

/** What a directory record describes. */
export interface RecordOptions {
  /** `\0` for the folder itself, `\x01` for the one above. */
  readonly name: string;
  readonly isDirectory: boolean;
  readonly sector: number;
  readonly bytes: number;
  readonly nowMs: number;
  /** Sector that holds the Rock Ridge extension record: only for the root itself. */
  readonly extension: number | undefined;
}

/** How a directory record encodes names, and its system use area. */
export interface NameStyle {
  name(name: string, isDirectory: boolean): Buffer;
  systemUse(options: RecordOptions): Buffer;
}

/** Encodes one directory record. */
export function directoryRecord(options: RecordOptions, style: NameStyle): Buffer {
  const special = options.name === "\0" || options.name === "\x01";
  const name = special ? Buffer.from(options.name, "latin1") : style.name(options.name, options.isDirectory);
  const padded = 33 + name.length + ((name.length + 1) % 2);
  const use = style.systemUse(options);
  const record = Buffer.alloc(padded + use.length + (use.length % 2));
  record[0] = record.length;
  record.writeUInt32LE(options.sector, 2);
  record.writeUInt32BE(options.sector, 6);
  record.writeUInt32LE(options.bytes, 10);
  record.writeUInt32BE(options.bytes, 14);
  dateBytes(options.nowMs).copy(record, 18);
  record[25] = options.isDirectory ? 2 : 0;
  record.writeUInt16LE(1, 28);
  record.writeUInt16BE(1, 30);
  record[32] = name.length;
  name.copy(record, 33);
  use.copy(record, padded);
  return record;
}

/** Upper-case ISO 9660 names, with the real names in Rock Ridge entries. */
export const ROCK_RIDGE: NameStyle = {
  name: (name, isDirectory) => {
    const clean = name.toUpperCase().replaceAll(/[^A-Z0-9_.]/g, "_");
    if (isDirectory) return Buffer.from(clean.replaceAll(".", "_").slice(0, 31), "latin1");
    const dot = clean.lastIndexOf(".");
    const base = (dot < 0 ? clean : clean.slice(0, dot)).replaceAll(".", "_");
    const extension = dot < 0 ? "" : clean.slice(dot + 1);
    return Buffer.from(`${base.slice(0, 28 - extension.length)}.${extension};1`, "latin1");
  },
  systemUse: (options) => {
    const parts: Buffer[] = [];
    if (options.extension !== undefined) parts.push(Buffer.from([0x53, 0x50, 7, 1, 0xbe, 0xef, 0]));
    parts.push(modes(options.isDirectory));
    if (options.name !== "\0" && options.name !== "\x01") {
      const name = Buffer.from(options.name, "utf8");
      parts.push(Buffer.from([0x4e, 0x4d, 5 + name.length, 1, 0]), name);
    }
    if (options.extension !== undefined) parts.push(continuation(options.extension));
    return Buffer.concat(parts);
  },
};

/** Real names in UCS-2, for systems without Rock Ridge support. */
export const JOLIET: NameStyle = {
  name: (name, isDirectory) => Buffer.from(isDirectory ? name : `${name};1`, "utf16le").swap16(),
  systemUse: () => Buffer.alloc(0),
};

/** PX: mode, links, user and group. */
function modes(isDirectory: boolean): Buffer {
  const entry = Buffer.alloc(36);
  entry.write("PX", "latin1");
  entry[2] = entry.length;
  entry[3] = 1;
  const values = [isDirectory ? 0o040555 : 0o100444, isDirectory ? 2 : 1, 0, 0];
  values.forEach((value, index) => {
    entry.writeUInt32LE(value, 4 + 8 * index);
    entry.writeUInt32BE(value, 8 + 8 * index);
  });
  return entry;
}

/** CE: more follows in another sector. */
function continuation(sector: number): Buffer {
  const entry = Buffer.alloc(28);
  entry.write("CE", "latin1");
  entry[2] = entry.length;
  entry[3] = 1;
  [sector, 0, rockRidgeExtension().length].forEach((value, index) => {
    entry.writeUInt32LE(value, 4 + 8 * index);
    entry.writeUInt32BE(value, 8 + 8 * index);
  });
  return entry;
}

/** Encodes the ER entry, which declares the use of Rock Ridge. */
export function rockRidgeExtension(): Buffer {
  const id = "RRIP_1991A";
  const description = "THE ROCK RIDGE INTERCHANGE PROTOCOL PROVIDES SUPPORT FOR POSIX FILE SYSTEM SEMANTICS";
  const source = "PLEASE CONTACT DISC PUBLISHER FOR SPECIFICATION SOURCE.";
  const entry = Buffer.alloc(8 + id.length + description.length + source.length);
  entry.write("ER", "latin1");
  entry[2] = entry.length;
  entry[3] = 1;
  entry[4] = id.length;
  entry[5] = description.length;
  entry[6] = source.length;
  entry[7] = 1;
  entry.write(`${id}${description}${source}`, 8, "latin1");
  return entry;
}
