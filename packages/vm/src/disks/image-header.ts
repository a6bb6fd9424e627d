import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";

/** The formats that machines run on. */
export type ImageFormat = "raw" | "qcow2";

/** Why an image is not used. */
export type ImageProblem =
  /** It is not in the stated format. */
  | "format"
  /** It refers to other files, which would be files of this host. */
  | "refersToFiles"
  | "encrypted"
  /** It is damaged, or QEMU needs a feature for it that is not known here. */
  | "unusable";

/** An image that is not used. */
export class ImageError extends Error {
  readonly problem: ImageProblem;

  constructor(problem: ImageProblem, message: string) {
    super(message);
    this.name = "ImageError";
    this.problem = problem;
  }
}

/** What the beginning of an image says. */
export interface ImageHeader {
  format: ImageFormat;
  /** The size that a guest sees. */
  bytes: number;
  /** The file below an overlay. */
  backing: string | undefined;
}

/** Enough for the header of a qcow2 with its extensions, and for what marks other formats. */
const HEADER_BYTES = 64 * 1024;
const QCOW2_MAGIC = 0x514649fb;
const MAX_BACKING_NAME = 1023;
const MAX_BYTES = 2 ** 50;
/** Incompatible features: what else is set has no meaning that is known here. */
const DIRTY = 1n;
const CORRUPT = 2n;
const DATA_FILE = 4n;
const KNOWN = DIRTY | CORRUPT | DATA_FILE | 8n | 16n;

/** Formats that a raw image must not be mistaken for, by the bytes that they begin with. */
const OTHERS: [name: string, offset: number, mark: string][] = [
  ["a qcow2 image", 0, "QFI\u00fb"],
  ["a LUKS volume", 0, "LUKS\u00ba\u00be"],
  ["a VMDK image", 0, "KDMV"],
  ["a VMDK image", 0, "# Disk DescriptorFile"],
  ["a VDI image", 64, "\u007f\u0010\u00da\u00be"],
  ["a VHDX image", 0, "vhdxfile"],
  ["compressed with gzip", 0, "\u001f\u008b"],
  ["compressed with xz", 0, "\u00fd7zXZ\u0000"],
  ["compressed with zstd", 0, "(\u00b5/\u00fd"],
];

/**
 * Checks an image from outside before a guest runs on it. One that refers to other files is refused: QEMU would open them, and the guest read
 * whatever file of the host they name. The names in it are not repeated in errors, since a stranger chose them.
 */
export async function checkImage(file: string, stated: ImageFormat): Promise<ImageHeader> {
  const { start, fileBytes } = await readStart(file);
  if (stated === "raw") checkRaw(start, file);
  const header = parseHeader(start, { file, stated, fileBytes });
  if (header.backing !== undefined)
    throw new ImageError("refersToFiles", `${file} has a backing file: flatten it with qemu-img convert -O qcow2`);
  return header;
}

/** The header of a machine's own disk. A raw one may begin with anything, since the guest writes it. */
export async function diskHeader(file: string, format: ImageFormat): Promise<ImageHeader> {
  const { start, fileBytes } = await readStart(file);
  return parseHeader(start, { file, stated: format, fileBytes });
}

/** The first bytes of a file; a link is not followed. */
async function readStart(file: string): Promise<{ start: Buffer; fileBytes: number }> {
  const handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const { size } = await regular(handle, file);
    const start = Buffer.alloc(Math.min(HEADER_BYTES, size));
    const { bytesRead } = await handle.read(start, 0, start.length, 0);
    return { start: start.subarray(0, bytesRead), fileBytes: size };
  } finally {
    await handle.close();
  }
}

async function regular(handle: FileHandle, file: string): Promise<{ size: number }> {
  const found = await handle.stat();
  if (!found.isFile()) throw new ImageError("format", `${file} is not a file`);
  return found;
}

function checkRaw(start: Buffer, file: string): void {
  const text = start.toString("latin1");
  const other = OTHERS.find(([, offset, mark]) => text.startsWith(mark, offset));
  if (other !== undefined) throw new ImageError("format", `${file} is ${other[0]}, not raw as stated`);
}

function parseHeader(
  start: Buffer,
  { file, stated, fileBytes }: { file: string; stated: ImageFormat; fileBytes: number },
): ImageHeader {
  if (stated === "qcow2") return parseQcow2(start, file);
  if (fileBytes === 0 || fileBytes % 512 !== 0)
    throw new ImageError("format", `${file} has ${fileBytes} bytes: not a whole number of sectors, so not a raw image`);
  return { format: "raw", bytes: fileBytes, backing: undefined };
}

/** Offsets as in QEMU's docs/interop/qcow2.txt; numbers are big-endian. */
function parseQcow2(start: Buffer, file: string): ImageHeader {
  if (start.length < 72 || start.readUInt32BE(0) !== QCOW2_MAGIC)
    throw new ImageError("format", `${file} is not a qcow2 image as stated`);
  const version = start.readUInt32BE(4);
  if (version !== 2 && version !== 3)
    throw new ImageError("unusable", `${file}: version ${version} of qcow2 is not supported`);
  if (start.readUInt32BE(32) !== 0) throw new ImageError("encrypted", `${file} is encrypted`);
  if (version === 3) checkFeatures(start, file);
  const bytes = Number(start.readBigUInt64BE(24));
  if (bytes === 0 || bytes % 512 !== 0 || bytes > MAX_BYTES)
    throw new ImageError("unusable", `${file}: the header says ${bytes} bytes, which is no size of a disk`);
  return { format: "qcow2", bytes, backing: backingName(start, file) };
}

function checkFeatures(start: Buffer, file: string): void {
  if (start.length < 104) throw new ImageError("unusable", `${file}: the header is incomplete`);
  const features = start.readBigUInt64BE(72);
  if ((features & DATA_FILE) !== 0n)
    throw new ImageError("refersToFiles", `${file} keeps its data in another file: use qemu-img convert -O qcow2`);
  if ((features & CORRUPT) !== 0n)
    throw new ImageError("unusable", `${file} is marked as corrupt: repair it with qemu-img check -r all`);
  if ((features & ~KNOWN) !== 0n)
    throw new ImageError("unusable", `${file} needs features of qcow2 that are not supported`);
}

function backingName(start: Buffer, file: string): string | undefined {
  const offset = start.readBigUInt64BE(8);
  if (offset === 0n) return undefined;
  const length = start.readUInt32BE(16);
  const end = Number(offset) + length;
  if (length === 0 || length > MAX_BACKING_NAME || end > start.length)
    throw new ImageError("refersToFiles", `${file} has a backing file: flatten it with qemu-img convert -O qcow2`);
  return start.toString("utf8", Number(offset), end);
}
