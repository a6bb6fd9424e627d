import fc from "fast-check";
import { expect, test } from "vitest";
import { configDrive } from "./config-drive.ts";
import { buildIso } from "./iso9660.ts";

const NOW = Date.UTC(2026, 0, 2, 3, 4, 5);

/** Reads an image as the specification says, by Rock Ridge or Joliet names. */
function read(image: Uint8Array, joliet: boolean): Map<string, string> {
  const bytes = Buffer.from(image.buffer, image.byteOffset, image.byteLength);
  const descriptor = 2048 * (joliet ? 17 : 16);
  expect(bytes[descriptor]).toBe(joliet ? 2 : 1);
  expect(bytes.readUInt32LE(descriptor + 80) * 2048).toBe(bytes.length);
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
      expect(record.readUInt32BE(6)).toBe(extent);
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

test("a config drive has the label and the files that cloud-init looks for", () => {
  const image = configDrive({ metaData: { uuid: "u" }, userData: "#cloud-config\n", networkData: { links: [] } }, NOW);
  expect(
    Buffer.from(image)
      .toString("latin1", 16 * 2048 + 40, 16 * 2048 + 72)
      .trimEnd(),
  ).toBe("config-2");
  const files = new Map([
    ["openstack/latest/meta_data.json", '{"uuid":"u"}'],
    ["openstack/latest/network_data.json", '{"links":[]}'],
    ["openstack/latest/user_data", "#cloud-config\n"],
  ]);
  expect(read(image, false)).toEqual(files);
  expect(read(image, true)).toEqual(files);
});

test("the same input gives the same bytes", () => {
  const data = { metaData: { uuid: "u" }, userData: "x", networkData: undefined };
  expect(configDrive(data, NOW)).toEqual(configDrive(data, NOW));
});

test("every file comes out as it went in, whatever the tree", () => {
  const name = fc.stringMatching(/^[a-z][a-z0-9_.-]{0,30}[a-z0-9]$/);
  const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => names.join("/"));
  const content = fc.string({ unit: fc.constantFrom("a", "\n", "\xff"), maxLength: 5000 });
  fc.assert(
    fc.property(fc.dictionary(path, content, { maxKeys: 60 }), (tree) => {
      // A name is either a file or a folder.
      const paths = Object.keys(tree);
      const entries = Object.entries(tree).filter(([one]) => !paths.some((other) => other.startsWith(`${one}/`)));
      const files = new Map(entries.map(([key, value]) => [key, Buffer.from(value, "latin1")]));
      const image = buildIso({ label: "x", files, nowMs: NOW });
      expect(read(image, false)).toEqual(new Map(entries));
      expect(read(image, true)).toEqual(new Map(entries));
    }),
    { numRuns: 60 },
  );
});
