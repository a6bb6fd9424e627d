import { chmod, chown, lstat, mkdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { writeFileAtomic } from "@capstan/os";
import { ensureDisk, type QemuImg } from "../disks/ensure-disk.ts";
import { ImageError } from "../disks/image-header.ts";
import type { VmUser } from "../host/vm-user.ts";
import type { ImageFailureReason } from "../images/image-failure.ts";
import type { StoredImage } from "../images/image-source.ts";
import type { ImageState } from "../images/image-store.ts";
import { seedFile, type VmSeed } from "../seed/seed.ts";
import type { VmOrder } from "./vm-order.ts";
import { VmProblem, type VmReason } from "./vm-status.ts";

const IMAGE_REASONS: Record<ImageFailureReason, VmReason> = {
  refused: "ImageRefused",
  missing: "ImageNotFound",
  unreachable: "ImageUnreachable",
  checksum: "ImageChecksumMismatch",
  noSpace: "NoSpace",
  invalid: "ImageInvalid",
};

/** The image of a machine; throws a VmProblem that says how far it is, or why there is none. */
export function imageOf(state: ImageState): StoredImage {
  switch (state.type) {
    case "ready":
      return state.image;
    case "fetching": {
      const mib = (bytes: number): string => `${Math.floor(bytes / 2 ** 20)} MiB`;
      const total = state.total === undefined ? "" : ` of ${mib(state.total)}`;
      throw new VmProblem("ImageDownloading", `${mib(state.received)}${total} of the image have been fetched`);
    }
    case "failed":
      throw new VmProblem(IMAGE_REASONS[state.failure.reason], state.failure.message);
  }
}

/** The files of a machine. The folder belongs to the manager, so that QEMU can replace nothing in it but what is in `run`. */
export function filesOf(folder: string) {
  return {
    run: join(folder, "run"),
    log: join(folder, "qemu.log"),
    seed: join(folder, "seed"),
    disk: (name: string, format: "raw" | "qcow2") => join(folder, `${name}.${format}`),
  };
}

/** Makes the folders that QEMU works in. */
export async function ensureFolders(folder: string, user: VmUser | undefined): Promise<void> {
  const { run } = filesOf(folder);
  // Other users may enter what they know the name of.
  await mkdir(folder, { recursive: true, mode: 0o711 });
  await mkdir(run, { recursive: true, mode: 0o700 });
  if (user === undefined) return;
  await chmod(folder, 0o711);
  if ((await lstat(run)).uid !== user.uid) await chown(run, user.uid, user.uid);
  await reachable(folder);
}

/** Another user reaches the folder only when every one above lets it pass. */
async function reachable(folder: string): Promise<void> {
  for (let path = dirname(folder); path !== dirname(path); path = dirname(path))
    if (((await stat(path)).mode & 0o001) === 0)
      throw new VmProblem(
        "FolderClosed",
        `the user that QEMU runs as cannot enter ${path}: chmod o+x ${path}, or keep virtual machines in another folder`,
      );
}

/** Makes the disks of a machine; those that exist stay, and grow while the machine is off. */
export async function ensureDisks(
  { disks }: Pick<VmOrder, "disks">,
  folder: string,
  {
    image,
    qemuImg,
    user,
    running,
  }: { image: StoredImage; qemuImg: QemuImg; user: VmUser | undefined; running: boolean },
): Promise<void> {
  const owner = user === undefined ? undefined : { uid: user.uid, gid: user.uid };
  for (const [index, { name, bytes }] of disks.entries()) {
    const base = index === 0 ? image : undefined;
    const file = filesOf(folder).disk(name, base === undefined ? "raw" : "qcow2");
    const order = { file, bytes, ...(base === undefined ? {} : { base }), ...(owner === undefined ? {} : { owner }) };
    const step = await ensureDisk(order, qemuImg, running).catch(asProblem);
    if (step.type === "refuse") throw new VmProblem("DiskRefused", step.message);
  }
}

function asProblem(error: unknown): never {
  if (error instanceof ImageError) throw new VmProblem("ImageInvalid", error.message, { cause: error });
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === "ENOSPC" || code === "EDQUOT" || /No space left/.test(message))
    throw new VmProblem("NoSpace", `no space is left for the disks of the machine: ${message}`, { cause: error });
  throw error;
}

/** Writes the seed, which only the user of QEMU can read; returns its item of the firmware interface. */
export async function writeSeed(
  seed: VmSeed,
  folder: string,
  user: VmUser | undefined,
  nowMs: number,
): Promise<{ firmwareName?: string | undefined }> {
  const { content, firmwareName } = seedFile(seed, nowMs);
  const owner = user === undefined ? {} : { owner: { uid: user.uid, gid: user.uid } };
  await writeFileAtomic(filesOf(folder).seed, content, { mode: 0o400, ...owner });
  return { firmwareName };
}
