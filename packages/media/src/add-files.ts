import { type MediaContent, type Patch, patchedContent, readAll } from "./content.ts";
import { directoryRecord, JOLIET, type NameStyle, ROCK_RIDGE } from "./iso-record.ts";
import { SECTOR, sectorsOf } from "./iso-text.ts";
import { isoTree, type TreeDirectory, type TreeFile } from "./iso-tree.ts";

const FIRST = 16;
const LAST_DESCRIPTOR = 64;
/** The root folder alone: one of a thousand files has some 100 KiB. */
const MAX_ROOT = 1024 * 1024;
/** The length of a record without a name; anything shorter is invalid. */
const MIN_RECORD = 33;

interface Volume {
  readonly at: number;
  readonly joliet: boolean;
  readonly root: Buffer;
}

interface Place {
  readonly sector: number;
  readonly bytes: number;
}

/**
 * Adds files to an ISO 9660 image without copying it: new folders and files are appended, and the volume descriptors point to a new root
 * folder. The boot records stay where they are.
 */
export async function addFiles(
  base: MediaContent,
  files: ReadonlyMap<string, Uint8Array>,
  signal?: AbortSignal,
): Promise<MediaContent> {
  const tree = isoTree(files);
  const [root] = tree.directories;
  const volumes = await volumesOf(base, signal);
  const tail = new Tail(sectorsOf(base.size));
  const places = new Map<TreeFile, number>();
  for (const file of tree.files) places.set(file, tail.reserve(file.content.length, () => file.content).sector);
  const roots = volumes.map((volume) => ({
    volume,
    place: placeRoot(volume, root?.children ?? [], { style: styleOf(volume), places, tail }),
  }));
  const patches = roots.flatMap(({ volume, place }) => descriptorPatches(volume, place, tail.end));
  const gap = Buffer.alloc(sectorsOf(base.size) * SECTOR - base.size);
  return patchedContent(base, [...patches, { at: base.size, bytes: Buffer.concat([gap, tail.bytes()]) }]);
}

/** What follows the old end: places are given out first, contents may depend on places given out later. */
class Tail {
  end: number;
  readonly #parts: { place: Place; content: () => Uint8Array }[] = [];

  constructor(start: number) {
    this.end = start;
  }

  reserve(length: number, content: (place: Place) => Uint8Array): Place {
    const place = { sector: this.end, bytes: SECTOR * Math.max(1, sectorsOf(length)) };
    this.end += place.bytes / SECTOR;
    this.#parts.push({ place, content: () => content(place) });
    return place;
  }

  bytes(): Buffer {
    return Buffer.concat(
      this.#parts.map(({ place, content }) => {
        const padded = Buffer.alloc(place.bytes);
        padded.set(content());
        return padded;
      }),
    );
  }
}

interface Writing {
  readonly style: NameStyle;
  readonly places: ReadonlyMap<TreeFile, number>;
  readonly tail: Tail;
}

/** The primary descriptor and, if there is one, Joliet's, each with the contents of its root folder. */
async function volumesOf(base: MediaContent, signal: AbortSignal | undefined): Promise<Volume[]> {
  const volumes: Volume[] = [];
  for (let sector = FIRST; sector < LAST_DESCRIPTOR; sector++) {
    const at = sector * SECTOR;
    const descriptor = await readAll(base, at, at + SECTOR, signal);
    if (descriptor.toString("latin1", 1, 6) !== "CD001") break;
    const type = descriptor[0];
    if (type === 255) break;
    const joliet = type === 2 && /^%\/[@CE]/.test(descriptor.toString("latin1", 88, 91));
    if (type !== 1 && !joliet) continue;
    if (volumes.some((volume) => volume.joliet === joliet)) throw new Error("it has two volumes of the same kind");
    const from = descriptor.readUInt32LE(158) * SECTOR;
    const bytes = descriptor.readUInt32LE(166);
    if (bytes > MAX_ROOT || from + bytes > base.size)
      throw new Error(`its root folder has ${bytes} bytes, more than the limit of ${MAX_ROOT} or than the image`);
    volumes.push({ at, joliet, root: await readAll(base, from, from + bytes, signal) });
  }
  if (!volumes.some(({ joliet }) => !joliet)) throw new Error("it is not an ISO 9660 image");
  return volumes;
}

/** Names as the image has them: with Rock Ridge only where its root says so. */
function styleOf({ root, joliet }: Volume): NameStyle {
  if (joliet) return JOLIET;
  const [self] = recordsOf(root);
  const use = self?.subarray(33 + (self[32] ?? 0) + (((self[32] ?? 0) + 1) % 2));
  if (use?.toString("latin1", 0, 2) !== "SP") return { ...ROCK_RIDGE, systemUse: () => Buffer.alloc(0) };
  // Bytes that every record leaves before its Rock Ridge fields.
  const skipped = Buffer.alloc(use[6] ?? 0);
  return { ...ROCK_RIDGE, systemUse: (options) => Buffer.concat([skipped, ROCK_RIDGE.systemUse(options)]) };
}

type Child = TreeDirectory | TreeFile;

/** Gives a folder and all below it their places. */
function placeDirectory(directory: TreeDirectory, parent: Place, writing: Writing): Place {
  const sizes = [
    selfRecord("\0", parent, writing),
    selfRecord("\x01", parent, writing),
    ...directory.children.map((child) => childRecord(child, parent, writing)),
  ];
  const place = writing.tail.reserve(packed(sizes).length, (own) =>
    packed([selfRecord("\0", own, writing), selfRecord("\x01", parent, writing), ...sortedRecords(children())]),
  );
  const inner = placeChildren(directory.children, place, writing);
  const children = (): Buffer[] => inner.map(({ child, at }) => childRecord(child, at, writing));
  return place;
}

function placeChildren(children: readonly Child[], parent: Place, writing: Writing): { child: Child; at: Place }[] {
  return children.map((child) => ({
    child,
    at:
      child.type === "directory"
        ? placeDirectory(child, parent, writing)
        : { sector: writing.places.get(child) ?? 0, bytes: child.content.length },
  }));
}

function placeRoot(volume: Volume, children: readonly Child[], writing: Writing): Place {
  const [self, parent, ...old] = recordsOf(volume.root);
  if (self === undefined || parent === undefined) throw new Error("its root folder is empty");
  const nowhere: Place = { sector: 0, bytes: 0 };
  const added = children.map((child) => childRecord(child, nowhere, writing));
  const names = new Set(added.map(nameOf));
  const kept = old.filter((record) => !names.has(nameOf(record)));
  const place = writing.tail.reserve(packed([self, parent, ...kept, ...added]).length, (own) => {
    const records = inner.map(({ child, at }) => childRecord(child, at, writing));
    return packed([withPlace(self, own), withPlace(parent, own), ...sortedRecords([...kept, ...records])]);
  });
  const inner = placeChildren(children, place, writing);
  return place;
}

function selfRecord(name: string, at: Place, { style }: Writing): Buffer {
  return directoryRecord({ name, isDirectory: true, ...at, nowMs: 0, extension: undefined }, style);
}

function childRecord(child: Child, at: Place, { style }: Writing): Buffer {
  return directoryRecord(
    { name: child.name, isDirectory: child.type === "directory", ...at, nowMs: 0, extension: undefined },
    style,
  );
}

function sortedRecords(records: readonly Buffer[]): Buffer[] {
  return [...records].sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
}

function descriptorPatches({ at }: Volume, { sector, bytes }: Place, total: number): Patch[] {
  return [
    { at: at + 80, bytes: both(total) },
    { at: at + 158, bytes: both(sector) },
    { at: at + 166, bytes: both(bytes) },
  ];
}

function both(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt32LE(value, 0);
  bytes.writeUInt32BE(value, 4);
  return bytes;
}

function withPlace(record: Buffer, { sector, bytes }: Place): Buffer {
  const copy = Buffer.from(record);
  both(sector).copy(copy, 2);
  both(bytes).copy(copy, 10);
  return copy;
}

function nameOf(record: Buffer): string {
  return record.toString("latin1", 33, 33 + (record[32] ?? 0));
}

function recordsOf(folder: Buffer): Buffer[] {
  const records: Buffer[] = [];
  for (let at = 0; at < folder.length; ) {
    const length = folder[at] ?? 0;
    if (length === 0) {
      at = SECTOR * (Math.floor(at / SECTOR) + 1);
      continue;
    }
    if (length < MIN_RECORD || at + length > folder.length) throw new Error("its root folder is damaged");
    records.push(folder.subarray(at, at + length));
    at += length;
  }
  return records;
}

/** Records one after the other; none crosses the end of a sector. */
function packed(records: readonly Buffer[]): Buffer {
  const parts: Buffer[] = [];
  let at = 0;
  for (const record of records) {
    const left = SECTOR - (at % SECTOR);
    if (record.length > left) {
      parts.push(Buffer.alloc(left));
      at += left;
    }
    parts.push(record);
    at += record.length;
  }
  return Buffer.concat(parts);
}
