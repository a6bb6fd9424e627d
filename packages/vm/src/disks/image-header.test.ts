import { mkdtemp, readFile, rm, symlink, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { checkImage, diskHeader, type ImageFormat } from "./image-header.ts";

const MIB = 1024 ** 2;
let folder: string;
let recorded: Record<string, string>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "capstan-vm-images-"));
  recorded = JSON.parse(await readFile(new URL("../../testdata/images.json", import.meta.url), "utf8"));
});

afterAll(() => rm(folder, { recursive: true, force: true }));

/** An image as qemu-img made it, as far as it was recorded. */
async function image(name: string, change: (bytes: Buffer) => void = () => undefined): Promise<string> {
  const file = join(folder, name);
  const bytes = Buffer.from(recorded[name] ?? "", "base64");
  change(bytes);
  await writeFile(file, bytes);
  return file;
}

test.each(["plain", "version2", "extendedL2", "zstd"])("accepts what qemu-img makes: %s", async (name) => {
  expect(await checkImage(await image(name), "qcow2")).toEqual({ format: "qcow2", bytes: MIB, backing: undefined });
});

test("accepts a raw image, whose size is that of its file", async () => {
  const file = await image("raw");
  await truncate(file, MIB);
  expect(await checkImage(file, "raw")).toEqual({ format: "raw", bytes: MIB, backing: undefined });
});

test.each<[string, ImageFormat, string, string]>([
  ["overlay", "qcow2", "refersToFiles", "has a backing file: flatten it with qemu-img convert"],
  ["dataFile", "qcow2", "refersToFiles", "keeps its data in another file"],
  ["encrypted", "qcow2", "encrypted", "is encrypted"],
  ["raw", "qcow2", "format", "is not a qcow2 image as stated"],
  ["plain", "raw", "format", "is a qcow2 image, not raw as stated"],
  ["overlay", "raw", "format", "is a qcow2 image"],
  ["luks", "raw", "format", "is a LUKS volume"],
  ["vmdk", "raw", "format", "is a VMDK image"],
  ["vdi", "raw", "format", "is a VDI image"],
  ["vhdx", "raw", "format", "is a VHDX image"],
])("refuses %s stated as %s", async (name, stated, problem, message) => {
  const file = await image(name);
  const refused = expect(checkImage(file, stated)).rejects;
  await refused.toMatchObject({ problem, message: expect.stringContaining(message) });
  // What the header names is the stranger's choice.
  await expect(checkImage(file, stated)).rejects.not.toMatchObject({
    message: expect.stringMatching(/base\.img|data\.img/),
  });
});

test.each<[string, (bytes: Buffer) => void, string]>([
  [
    "a backing file whose name lies beyond the header",
    (bytes) => bytes.writeBigUInt64BE(2n ** 40n, 8),
    "refersToFiles",
  ],
  ["a backing file with no name", (bytes) => bytes.writeBigUInt64BE(512n, 8), "refersToFiles"],
  ["an unknown version", (bytes) => bytes.writeUInt32BE(4, 4), "unusable"],
  ["an unknown feature", (bytes) => bytes.writeBigUInt64BE(2n ** 40n, 72), "unusable"],
  ["damage", (bytes) => bytes.writeBigUInt64BE(2n, 72), "unusable"],
  ["no size", (bytes) => bytes.writeBigUInt64BE(0n, 24), "unusable"],
  ["the largest size", (bytes) => bytes.writeBigUInt64BE(2n ** 64n - 512n, 24), "unusable"],
])("refuses a qcow2 header with %s", async (_what, change, problem) => {
  await expect(checkImage(await image("plain", change), "qcow2")).rejects.toMatchObject({ problem });
});

test.each(["plain", "version2"])("refuses a download of %s that was cut off anywhere in its header", async (name) => {
  const file = await image(name);
  for (const bytes of [71, 8, 3, 0]) {
    await truncate(file, bytes);
    await expect(checkImage(file, "qcow2")).rejects.toMatchObject({ problem: "format" });
  }
});

test("refuses half a sector, a compressed image and what is no file", async () => {
  const file = join(folder, "odd");
  await writeFile(file, Buffer.alloc(1000));
  await expect(checkImage(file, "raw")).rejects.toMatchObject({ problem: "format" });
  await writeFile(file, Buffer.from([0x1f, 0x8b, ...Buffer.alloc(510)]));
  await expect(checkImage(file, "raw")).rejects.toThrow("compressed with gzip");
  await expect(checkImage(folder, "raw")).rejects.toMatchObject({ problem: "format" });
  await symlink("/etc/passwd", join(folder, "link"));
  await expect(checkImage(join(folder, "link"), "raw")).rejects.toMatchObject({ code: "ELOOP" });
});

test("reads what its own overlays lie on, and accepts whatever a guest wrote to its raw disk", async () => {
  const backing = "/tmp/capstan-vm-images/base.img";
  expect(await diskHeader(await image("overlay"), "qcow2")).toEqual({ format: "qcow2", bytes: MIB, backing });
  const written = await image("overlay");
  expect(await diskHeader(written, "raw")).toEqual({ format: "raw", bytes: 1024, backing: undefined });
});
