import { directoryRecord, JOLIET, type NameStyle, ROCK_RIDGE, rockRidgeExtension } from "./iso-record.ts";
import { dateText, SECTOR, sectorsOf, text, text16 } from "./iso-text.ts";
import { type IsoTree, isoTree, type TreeDirectory } from "./iso-tree.ts";

/** Contents of an image: files by path, with `/` between names. */
export interface IsoOptions {
  /** Volume label; cloud-init looks for `config-2`. */
  readonly label: string;
  readonly files: ReadonlyMap<string, Uint8Array>;
  readonly nowMs: number;
}

interface Placed {
  readonly directory: TreeDirectory;
  readonly sector: number;
  readonly bytes: number;
}

const FIRST = 16;

/** Builds an ISO 9660 image with Rock Ridge and Joliet names in memory, for small trees such as config drives. */
export function buildIso(options: IsoOptions): Uint8Array {
  const tree = isoTree(options.files);
  // Three descriptors, four path tables, one sector for the Rock Ridge extension.
  let next = FIRST + 3 + 4;
  const extension = next++;
  const place = (style: NameStyle): Placed[] =>
    tree.directories.map((directory) => {
      const bytes = SECTOR * sectorsOf(directoryBytes(directory, style));
      const placed = { directory, sector: next, bytes };
      next += bytes / SECTOR;
      return placed;
    });
  const primary = place(ROCK_RIDGE);
  const joliet = place(JOLIET);
  const fileSectors = tree.files.map(({ content }) => {
    const sector = next;
    next += Math.max(1, sectorsOf(content.length));
    return sector;
  });
  const image = Buffer.alloc(next * SECTOR);
  const layout = { tree, fileSectors, extension, nowMs: options.nowMs };
  writeDescriptor(image, FIRST, options, primary, next, false);
  writeDescriptor(image, FIRST + 1, options, joliet, next, true);
  image.write("\xffCD001\x01", (FIRST + 2) * SECTOR, "latin1");
  writePathTables(image, FIRST + 3, primary, ROCK_RIDGE);
  writePathTables(image, FIRST + 5, joliet, JOLIET);
  rockRidgeExtension().copy(image, extension * SECTOR);
  for (const placed of primary) writeDirectory(image, placed, primary, ROCK_RIDGE, layout);
  for (const placed of joliet) writeDirectory(image, placed, joliet, JOLIET, layout);
  tree.files.forEach(({ content }, index) => image.set(content, (fileSectors[index] ?? 0) * SECTOR));
  return image;
}

interface Layout {
  readonly tree: IsoTree;
  readonly fileSectors: readonly number[];
  readonly extension: number;
  readonly nowMs: number;
}

/** Records never cross the end of a sector. */
function directoryBytes(directory: TreeDirectory, style: NameStyle): number {
  const record = (name: string, isDirectory: boolean, root = false): number =>
    directoryRecord({ name, isDirectory, sector: 0, bytes: 0, nowMs: 0, extension: root ? 0 : undefined }, style)
      .length;
  const sizes = [record("\0", true, directory.parent === undefined), record("\x01", true)];
  for (const child of directory.children) sizes.push(record(child.name, child.type === "directory"));
  return sizes.reduce(
    (at, size) =>
      (Math.floor(at / SECTOR) === Math.floor((at + size - 1) / SECTOR) ? at : SECTOR * sectorsOf(at)) + size,
    0,
  );
}

function writeDirectory(image: Buffer, placed: Placed, all: readonly Placed[], style: NameStyle, layout: Layout): void {
  const { directory } = placed;
  const where = (of: TreeDirectory): Placed => all.find((other) => other.directory === of) ?? placed;
  let at = placed.sector * SECTOR;
  const write = (
    name: string,
    isDirectory: boolean,
    target: { sector: number; bytes: number },
    extension?: number,
  ): void => {
    const record = directoryRecord({ name, isDirectory, ...target, nowMs: layout.nowMs, extension }, style);
    if (Math.floor(at / SECTOR) !== Math.floor((at + record.length - 1) / SECTOR)) at = SECTOR * sectorsOf(at);
    at += record.copy(image, at);
  };
  write("\0", true, placed, directory.parent === undefined ? layout.extension : undefined);
  write("\x01", true, where(directory.parent ?? directory));
  const sorted = [...directory.children].sort((a, b) =>
    Buffer.compare(style.name(a.name, a.type === "directory"), style.name(b.name, b.type === "directory")),
  );
  for (const child of sorted) {
    if (child.type === "directory") write(child.name, true, where(child));
    else
      write(child.name, false, {
        sector: layout.fileSectors[layout.tree.files.indexOf(child)] ?? 0,
        bytes: child.content.length,
      });
  }
}

function writePathTables(image: Buffer, sector: number, all: readonly Placed[], style: NameStyle): void {
  const build = (little: boolean): Buffer =>
    Buffer.concat(
      all.map(({ directory, sector: extent }) => {
        const name = directory.parent === undefined ? Buffer.from([0]) : style.name(directory.name, true);
        const entry = Buffer.alloc(8 + name.length + (name.length % 2));
        const parent = all.findIndex((other) => other.directory === (directory.parent ?? directory)) + 1;
        entry[0] = name.length;
        if (little) {
          entry.writeUInt32LE(extent, 2);
          entry.writeUInt16LE(parent, 6);
        } else {
          entry.writeUInt32BE(extent, 2);
          entry.writeUInt16BE(parent, 6);
        }
        name.copy(entry, 8);
        return entry;
      }),
    );
  build(true).copy(image, sector * SECTOR);
  build(false).copy(image, (sector + 1) * SECTOR);
}

function pathTableBytes(all: readonly Placed[], joliet: boolean): number {
  const style = joliet ? JOLIET : ROCK_RIDGE;
  return all.reduce((sum, { directory }) => {
    const length = directory.parent === undefined ? 1 : style.name(directory.name, true).length;
    return sum + 8 + length + (length % 2);
  }, 0);
}

function writeDescriptor(
  image: Buffer,
  sector: number,
  options: IsoOptions,
  all: readonly Placed[],
  total: number,
  joliet: boolean,
): void {
  const at = sector * SECTOR;
  const put = (offset: number, bytes: Uint8Array): void => image.set(bytes, at + offset);
  const both32 = (offset: number, value: number): void => {
    image.writeUInt32LE(value, at + offset);
    image.writeUInt32BE(value, at + offset + 4);
  };
  const both16 = (offset: number, value: number): void => {
    image.writeUInt16LE(value, at + offset);
    image.writeUInt16BE(value, at + offset + 2);
  };
  const field = (offset: number, value: string, length: number): void =>
    put(offset, joliet ? text16(value, length) : text(value, length));
  image[at] = joliet ? 2 : 1;
  put(1, text("CD001", 5));
  image[at + 6] = 1;
  field(8, "LINUX", 32);
  field(40, options.label, 32);
  both32(80, total);
  if (joliet) put(88, text("%/E", 3));
  both16(120, 1);
  both16(124, 1);
  both16(128, SECTOR);
  both32(132, pathTableBytes(all, joliet));
  const tables = FIRST + (joliet ? 5 : 3);
  image.writeUInt32LE(tables, at + 140);
  image.writeUInt32BE(tables + 1, at + 148);
  const root = all[0];
  if (root !== undefined)
    put(
      156,
      directoryRecord(
        {
          name: "\0",
          isDirectory: true,
          sector: root.sector,
          bytes: root.bytes,
          nowMs: options.nowMs,
          extension: undefined,
        },
        { ...JOLIET, systemUse: () => Buffer.alloc(0) },
      ),
    );
  for (const offset of [190, 318, 446]) field(offset, "", 128);
  field(574, "CAPSTAN", 128);
  for (const [offset, length] of [
    [702, 37],
    [739, 37],
    [776, 37],
  ] as const)
    field(offset, "", length);
  const date = dateText(options.nowMs);
  put(813, date);
  put(830, date);
  put(847, dateText(undefined));
  put(864, date);
  image[at + 881] = 1;
}
