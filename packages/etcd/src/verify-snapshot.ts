import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";

const HASH_BYTES = 32;

/** Thrown for a file that is no whole snapshot of etcd. */
export class SnapshotDamaged extends Error {
  constructor(why: string) {
    super(why);
    this.name = "SnapshotDamaged";
  }
}

/** Returns the SHA-256 of a snapshot file, after comparing the hash at its end, which etcd appends, with what is before it. */
export async function verifySnapshot(file: string): Promise<string> {
  const { size } = await stat(file);
  if (size <= HASH_BYTES) throw new SnapshotDamaged(`it has only ${size} bytes`);
  const [data, whole] = [createHash("sha256"), createHash("sha256")];
  let end = Buffer.alloc(0);
  for await (const chunk of createReadStream(file) as AsyncIterable<Buffer>) {
    whole.update(chunk);
    const known = Buffer.concat([end, chunk]);
    end = known.subarray(Math.max(0, known.length - HASH_BYTES));
    data.update(known.subarray(0, known.length - end.length));
  }
  if (!data.digest().equals(end)) throw new SnapshotDamaged("the SHA-256 at its end is not that of its data");
  return whole.digest("hex");
}
