import { mkdtemp, readdir, readFile, rm, stat, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type DiskOrder, diskStep } from "./disk-plan.ts";
import { ensureDisk, type QemuImg } from "./ensure-disk.ts";

const MIB = 1024 ** 2;
let folder: string;
let file: string;
let base: string;
let overlayHeader: Buffer;
let calls: string[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "capstan-vm-disks-"));
  file = join(folder, "root");
  base = join(folder, "base");
  await writeFile(base, Buffer.alloc(MIB));
  const images = JSON.parse(await readFile(new URL("../../testdata/images.json", import.meta.url), "utf8"));
  overlayHeader = Buffer.from(images.overlay, "base64");
  calls = [];
});

afterEach(() => rm(folder, { recursive: true, force: true }));

/** Makes the overlay that qemu-img made when it was recorded, on the base and with the size that it is asked for. */
const qemuImg: QemuImg = async (args) => {
  calls.push(args.join(" ").replaceAll(folder, ""));
  const at = args[0] === "create" ? args.indexOf("-b") + 2 : 4;
  const [target = "", bytes = ""] = args.slice(at);
  const header = args[0] === "create" ? overlayHeader : await readFile(target);
  if (args[0] === "create") {
    const name = Number(header.readBigUInt64BE(8));
    header.writeUInt32BE(header.write(base, name), 16);
  }
  header.writeBigUInt64BE(BigInt(bytes), 24);
  await writeFile(target, header);
};

const empty = (bytes: number): DiskOrder => ({ file, bytes });
const overlay = (bytes: number): DiskOrder => ({ file, bytes, base: { file: base, format: "raw" } });

test("makes an empty disk that takes no space, for one user", async () => {
  expect(await ensureDisk(empty(64 * MIB), qemuImg)).toEqual({ type: "create" });
  const { size, blocks, mode } = await stat(file);
  expect([size, blocks, mode & 0o777]).toEqual([64 * MIB, 0, 0o600]);
  expect(calls).toEqual([]);
});

test("makes an overlay of an image, and later finds it", async () => {
  expect(await ensureDisk(overlay(2 * MIB), qemuImg)).toEqual({ type: "create" });
  expect(await ensureDisk(overlay(2 * MIB), qemuImg)).toEqual({ type: "keep" });
  expect(calls).toEqual([`create -q -f qcow2 -F raw -b /base /root.new ${2 * MIB}`]);
  expect(await readdir(folder)).toEqual(["base", "root"]);
});

test("leaves nothing behind when qemu-img fails, and then creates it", async () => {
  const failing: QemuImg = async (args) => {
    await qemuImg(args);
    throw new Error("No space left on device");
  };
  await expect(ensureDisk(overlay(2 * MIB), failing)).rejects.toThrow("No space left");
  expect(await readdir(folder)).toEqual(["base"]);
  expect(await ensureDisk(overlay(2 * MIB), qemuImg)).toEqual({ type: "create" });
});

test("replaces the draft of a manager that was killed", async () => {
  await writeFile(`${file}.new`, "half");
  await ensureDisk(empty(MIB), qemuImg);
  expect((await readFile(file)).equals(Buffer.alloc(MIB))).toBe(true);
});

test("never writes to a disk that appeared meanwhile", async () => {
  const racing: QemuImg = async (args) => {
    await qemuImg(args);
    await writeFile(file, "data of a guest");
  };
  await expect(ensureDisk(overlay(2 * MIB), racing)).rejects.toMatchObject({ code: "EEXIST" });
  expect(await readFile(file, "utf8")).toBe("data of a guest");
});

test("keeps what a guest wrote when its machine starts again, or its disk grows", async () => {
  await ensureDisk(empty(MIB), qemuImg);
  const content = Buffer.alloc(MIB, "guest");
  await writeFile(file, content);
  expect(await ensureDisk(empty(MIB), qemuImg)).toEqual({ type: "keep" });
  expect((await readFile(file)).equals(content)).toBe(true);
  expect(await ensureDisk(empty(2 * MIB), qemuImg)).toEqual({ type: "grow", from: MIB, to: 2 * MIB });
  expect((await readFile(file)).subarray(0, MIB).equals(content)).toBe(true);
  expect((await stat(file)).size).toBe(2 * MIB);
});

test("grows an overlay while its machine is stopped, and leaves a running one to QEMU", async () => {
  await ensureDisk(overlay(2 * MIB), qemuImg);
  const grown = { type: "grow", from: 2 * MIB, to: 3 * MIB };
  expect(await ensureDisk(overlay(3 * MIB), qemuImg, true)).toEqual(grown);
  expect(calls).toHaveLength(1);
  expect(await ensureDisk(overlay(3 * MIB), qemuImg)).toEqual(grown);
  expect(calls[1]).toBe(`resize -q -f qcow2 /root ${3 * MIB}`);
  expect(await ensureDisk(overlay(3 * MIB), qemuImg)).toEqual({ type: "keep" });
});

test("checks the image before it makes a disk of it", async () => {
  await writeFile(base, overlayHeader);
  await truncate(base, MIB);
  await expect(ensureDisk(overlay(2 * MIB), qemuImg)).rejects.toMatchObject({ problem: "format" });
  const onOverlay: DiskOrder = { ...overlay(2 * MIB), base: { file: base, format: "qcow2" } };
  await expect(ensureDisk(onOverlay, qemuImg)).rejects.toMatchObject({ problem: "refersToFiles" });
  expect(await readdir(folder)).toEqual(["base"]);
});

test.each<[string, DiskOrder, Parameters<typeof diskStep>[1], string]>([
  ["a smaller disk", { file: "/d", bytes: 512 }, { format: "raw", bytes: 1024, backing: undefined }, "cannot shrink"],
  ["half a sector", { file: "/d", bytes: 100 }, undefined, "cannot have 100 bytes"],
  ["no size", { file: "/d", bytes: Number.NaN }, undefined, "cannot have NaN bytes"],
  [
    "another image",
    { file: "/d", bytes: 1024, base: { file: "/b", format: "raw" } },
    { format: "qcow2", bytes: 1024, backing: "/a" },
    "made from another image",
  ],
])("refuses %s for a disk that has data", (_what, order, found, message) => {
  expect(diskStep(order, found, undefined)).toMatchObject({
    type: "refuse",
    message: expect.stringContaining(message),
  });
});

test("refuses a disk that is smaller than its image", async () => {
  const step = await ensureDisk(overlay(MIB / 2), qemuImg);
  expect(step).toMatchObject({ type: "refuse", message: expect.stringContaining("does not hold the image") });
  expect(await readdir(folder)).toEqual(["base"]);
});
