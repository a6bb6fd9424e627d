import { join } from "node:path";
import type { Clock, Random } from "@capstan/apimachinery";
import {
  type LmdbStore,
  openLmdbStore,
  openSharedStores,
  readEncryptionKeyFile,
  type SharedStores,
} from "@capstan/apiserver";
import type { Logger } from "@capstan/runtime";

/** What opening the store of an instance takes. */
interface InstanceStoreDeps {
  clock: Clock;
  random: Random;
  log: Logger;
}

/**
 * Opens the store in the data directory. With a key file, what its first key has not encrypted yet is encrypted with it now: after
 * a start nothing needs the older keys any more.
 */
export async function openInstanceStore(
  dataDir: string,
  encryptionKeyFile: string | undefined,
  { clock, random, log }: InstanceStoreDeps,
): Promise<LmdbStore> {
  const directory = join(dataDir, "store");
  if (encryptionKeyFile === undefined) return await openLmdbStore(directory, { clock, random, reserve: true });
  const encryptionKeys = await readEncryptionKeyFile(encryptionKeyFile);
  const store = await openLmdbStore(directory, { clock, random, encryptionKeys, reserve: true });
  try {
    const records = await store.reencrypt();
    if (records > 0) log.info("Secrets were encrypted with the first key of the file", { records });
  } catch (error) {
    await store.close();
    throw error;
  }
  return store;
}

/** Opens what embedded control planes keep their data in; their Secrets are encrypted with the same keys. */
export async function openEmbeddedStores(
  dataDir: string,
  encryptionKeyFile: string | undefined,
  { clock, random }: Pick<InstanceStoreDeps, "clock" | "random">,
): Promise<SharedStores> {
  const encryptionKeys = encryptionKeyFile === undefined ? [] : await readEncryptionKeyFile(encryptionKeyFile);
  return await openSharedStores(join(dataDir, "embedded", "store"), { clock, random, encryptionKeys });
}
