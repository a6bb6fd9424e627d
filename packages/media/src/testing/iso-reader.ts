import assert from "node:assert/strict";

/** Reads an image as the specification says, by Rock Ridge or Joliet names. */
export function readIso(image: Uint8Array, joliet: boolean): Map<string, string> {
  const bytes = Buffer.from(image.buffer, image.byteOffset, image.byteLength);
  const descriptor = 2048 * (joliet ? 17 : 16);
  assert.equal(bytes[descriptor], joliet ? 2 : 1);
  assert.equal(bytes.readUInt32LE(descriptor + 80) * 2048, bytes.length);
  const files = new Map<string, string>();
  const walk = (sector: number, size: number, path: string): void => {
    for (let at = sector * 2048; at < sector * 2048 + size; ) {
      const length = bytes[at] ?? 0;
      if (length === 0) {
        at = 2048 * (Math.floor(at / 2048) + 1);
        continue;
      }
      const record = bytes.subarray(at, at + length);
      at += length;
      const raw = record.subarray(33, 33 + (record[32] ?? 0));
      if (raw.length === 1 && (raw[0] ?? 2) < 2) continue;
      const name = joliet
        ? Buffer.from(raw).swap16().toString("utf16le").replace(/;1$/, "")
        : rockRidgeName(record, raw.length);
      const extent = record.readUInt32LE(2);
      assert.equal(record.readUInt32BE(6), extent);
      const count = record.readUInt32LE(10);
      if (((record[25] ?? 0) & 2) === 2) walk(extent, count, `${path}${name}/`);
      else files.set(path + name, bytes.toString("latin1", extent * 2048, extent * 2048 + count));
    }
  };
  walk(bytes.readUInt32LE(descriptor + 158), bytes.readUInt32LE(descriptor + 166), "");
  return files;
}

function rockRidgeName(record: Buffer, nameLength: number): string {
  for (let at = 33 + nameLength + ((nameLength + 1) % 2); at + 4 <= record.length; at += record[at + 2] ?? 255)
    if (record.toString("latin1", at, at + 2) === "NM")
      return record.toString("utf8", at + 5, at + (record[at + 2] ?? 0));
  throw new Error("a record without a name");
}
