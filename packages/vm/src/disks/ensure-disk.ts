import { constants } from "node:fs";
import { link, open, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { syncDirectory } from "@capstan/os";
import { type DiskOrder, type DiskStep, diskStep, formatOf } from "./disk-plan.ts";
import { checkImage, diskHeader, type ImageHeader } from "./image-header.ts";

/** Runs qemu-img with arguments; fails with what it printed. */
export type QemuImg = (args: readonly string[]) => Promise<void>;

/**
 * Makes a disk as it is ordered, and returns what was done. A disk that exists is never created again, whatever is in it: its guest would join
 * the cluster a second time, with a token that has expired. A machine that runs has its disks grown through QEMU (`VmControl.growDisk`), so
 * that with `running` a disk that is too small is left as it is. One caller at a time per disk.
 */
export async function ensureDisk(order: DiskOrder, qemuImg: QemuImg, running = false): Promise<DiskStep> {
  const { file } = order;
  const base = order.base === undefined ? undefined : await checkImage(order.base.file, order.base.format);
  const step = diskStep(order, await existing(order), base);
  if (step.type === "create") await create(order, qemuImg);
  if (step.type === "grow" && !running) await grow(file, formatOf(order), step.to, qemuImg);
  return step;
}

async function existing(order: DiskOrder): Promise<ImageHeader | undefined> {
  try {
    return await diskHeader(order.file, formatOf(order));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/** The disk gets its name when it is complete and on stable storage: a disk that has its name is a whole one. */
async function create({ file, bytes, base, owner }: DiskOrder, qemuImg: QemuImg): Promise<void> {
  const draft = `${file}.new`;
  await rm(draft, { force: true });
  try {
    // Made here, with its mode: nobody else can read it before its owner is set.
    const handle = await open(draft, "wx", 0o600);
    try {
      if (base === undefined) await handle.truncate(bytes);
      else await qemuImg(["create", "-q", "-f", "qcow2", "-F", base.format, "-b", base.file, draft, String(bytes)]);
      if (owner !== undefined) await handle.chown(owner.uid, owner.gid);
      await handle.sync();
    } finally {
      await handle.close();
    }
    // Unlike rename it fails when something has taken the name meanwhile.
    await link(draft, file);
  } finally {
    await rm(draft, { force: true });
  }
  await syncDirectory(dirname(file));
}

async function grow(file: string, format: "raw" | "qcow2", bytes: number, qemuImg: QemuImg): Promise<void> {
  if (format === "qcow2") {
    await qemuImg(["resize", "-q", "-f", "qcow2", file, String(bytes)]);
    return;
  }
  const handle = await open(file, constants.O_RDWR | constants.O_NOFOLLOW);
  try {
    await handle.truncate(bytes);
    await handle.sync();
  } finally {
    await handle.close();
  }
}
