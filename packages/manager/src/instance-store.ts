import { join } from "node:path";
import type { Clock, Random } from "@capstan/apimachinery";
import {
  type DiskReserve,
  type LmdbStore,
  openDiskReserve,
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
  /** Space that all stores of the instance share when the disk is full. */
  reserve?: DiskReserve;
}

/** Reserves disk space in the data directory, so that deletions and a restart still work on a full disk. */
export function openInstanceReserve(dataDir: string): DiskReserve {
  return openDiskReserve(join(dataDir, "store"));
}

/**
 * Opens the store in the data directory. With a key file, data that its first key has not encrypted yet is encrypted now, so that older
 * keys are no longer needed after a start.
 */
export async function openInstanceStore(
  dataDir: string,
  encryptionKeyFile: string | undefined,
  { log, ...options }: InstanceStoreDeps,
): Promise<LmdbStore> {
  const directory = join(dataDir, "store");
  if (encryptionKeyFile === undefined) return await openLmdbStore(directory, options);
  const encryptionKeys = await readEncryptionKeyFile(encryptionKeyFile);
  const store = await openLmdbStore(directory, { ...options, encryptionKeys });
  try {
    const records = await store.reencrypt();
    if (records > 0) log.info("Secrets were encrypted with the first key of the file", { records });
  } catch (error) {
    await store.close();
    throw error;
  }
  return store;
}

/** Opens the stores of embedded control planes; their Secrets are encrypted with the same keys. */
export async function openEmbeddedStores(
  dataDir: string,
  encryptionKeyFile: string | undefined,
  { clock, random, reserve }: Pick<InstanceStoreDeps, "clock" | "random" | "reserve">,
): Promise<SharedStores> {
  const encryptionKeys = encryptionKeyFile === undefined ? [] : await readEncryptionKeyFile(encryptionKeyFile);
  return await openSharedStores(join(dataDir, "embedded", "store"), {
    clock,
    random,
    encryptionKeys,
    reserve,
  });
}
