import { open, writeFile } from "node:fs/promises";
import type { QemuImg } from "../disks/ensure-disk.ts";

const NAME_OFFSET = 72;

/** Makes overlays that are nothing but a header. */
export const fakeQemuImg: QemuImg = async (args) => {
  const [file = "", bytes = "0"] = args.slice(-2);
  if (args[0] === "resize") {
    const handle = await open(file, "r+");
    await handle.write(sizeOf(bytes), 0, 8, 24);
    await handle.close();
    return;
  }
  const backing = args[args.indexOf("-b") + 1] ?? "";
  const header = Buffer.alloc(NAME_OFFSET + backing.length);
  header.writeUInt32BE(0x514649fb, 0);
  header.writeUInt32BE(2, 4);
  header.writeBigUInt64BE(BigInt(NAME_OFFSET), 8);
  header.writeUInt32BE(backing.length, 16);
  sizeOf(bytes).copy(header, 24);
  header.write(backing, NAME_OFFSET);
  await writeFile(file, header);
};

function sizeOf(bytes: string): Buffer {
  const size = Buffer.alloc(8);
  size.writeBigUInt64BE(BigInt(bytes));
  return size;
}
