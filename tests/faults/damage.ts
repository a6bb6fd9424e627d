import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Random, randomInt } from "@capstan/apimachinery";
import { openLmdbStore, StoreError } from "@capstan/apiserver";

/** Damages copies of a data directory in random places: each must fail with a clear error and stay unchanged, or be read correctly. */
export async function damageRounds(source: string, scratch: string, rounds: number, random: Random): Promise<number> {
  const whole = readFileSync(join(source, "db-1", "data.mdb"));
  const expected = await contents(source);
  let refused = 0;
  for (let round = 0; round < rounds; round++) {
    rmSync(scratch, { recursive: true, force: true });
    mkdirSync(join(scratch, "db-1"), { recursive: true });
    cpSync(join(source, "store.json"), join(scratch, "store.json"));
    const file = damage(whole, random);
    writeFileSync(join(scratch, "db-1", "data.mdb"), file);
    try {
      if ((await contents(scratch)) !== expected) throw new Error(`round ${round}: damage went unnoticed`);
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      if (error.cure === "") throw new Error(`no cure for: ${error.message}`);
      if (!readFileSync(join(scratch, "db-1", "data.mdb")).equals(file))
        throw new Error("the damaged file was changed");
      refused++;
    }
  }
  return refused;
}

function damage(whole: Buffer, random: Random): Buffer {
  if (randomInt(random, 3) === 0) return whole.subarray(0, 1 + randomInt(random, whole.length - 1));
  const file = Buffer.from(whole);
  const at = randomInt(random, randomInt(random, 3) === 0 ? 8192 : file.length);
  file[at] = (file[at] ?? 0) ^ (1 << randomInt(random, 8));
  return file;
}

async function contents(directory: string): Promise<string> {
  const store = await openLmdbStore(directory);
  try {
    const { revision, compactedRevision, objects } = await store.load();
    const log = await store.readLog(compactedRevision);
    const text = (bytes: Uint8Array | null): string | null => (bytes === null ? null : Buffer.from(bytes).toString());
    return JSON.stringify([
      revision,
      objects.map((object) => [object.key, object.revision, text(object.bytes)]),
      log.map((entry) => [entry.revision, entry.key, text(entry.bytes)]),
    ]);
  } finally {
    await store.close();
  }
}
