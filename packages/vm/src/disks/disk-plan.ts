import type { ImageFormat, ImageHeader } from "./image-header.ts";

/** A disk of a machine, which lives as long as the machine. */
export interface DiskOrder {
  file: string;
  /** The size that the guest sees; a multiple of 512. */
  bytes: number;
  /** The image that its content begins with. Without one the disk is empty, and raw; with one it is an overlay, and qcow2. */
  base?: { file: string; format: ImageFormat };
  /** The user that QEMU runs as. */
  owner?: { uid: number; gid: number };
}

/** What has to be done to a disk. */
export type DiskStep =
  | { type: "create" }
  | { type: "keep" }
  | { type: "grow"; from: number; to: number }
  /** Nothing is changed: what is there holds data. */
  | { type: "refuse"; message: string };

/** The format of a disk that is ordered. */
export function formatOf({ base }: DiskOrder): ImageFormat {
  return base === undefined ? "raw" : "qcow2";
}

/** The next step for a disk: `found` is what exists under its name, `base` the header of its image. */
export function diskStep(order: DiskOrder, found: ImageHeader | undefined, base: ImageHeader | undefined): DiskStep {
  const { file, bytes } = order;
  const refuse = (message: string): DiskStep => ({ type: "refuse", message });
  if (!Number.isSafeInteger(bytes) || bytes <= 0 || bytes % 512 !== 0)
    return refuse(`${file}: a disk cannot have ${bytes} bytes`);
  // QEMU would show only the beginning of the image, and with it a file system that is cut off.
  if (base !== undefined && bytes < base.bytes)
    return refuse(`${file}: a disk of ${bytes} bytes does not hold the image of ${base.bytes} bytes`);
  if (found === undefined) return { type: "create" };
  if (found.backing !== order.base?.file) return refuse(`${file} exists and was made from another image`);
  if (found.bytes > bytes) return refuse(`${file} has ${found.bytes} bytes and cannot shrink to ${bytes}`);
  return found.bytes === bytes ? { type: "keep" } : { type: "grow", from: found.bytes, to: bytes };
}
