import { copyFile, link, mkdir, readdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { SnapshotDamaged, verifySnapshot } from "@capstan/etcd";

const [SUFFIX, PARTIAL] = [".db", ".part"];

/** A verified snapshot on this machine. */
export interface KeptSnapshot {
  readonly file: string;
  readonly sha256: string;
}

/** A file with a snapshot, and how to give it back. */
export interface FetchedSnapshot {
  readonly file: string;
  release(): Promise<void>;
}

/**
 * Snapshots that recoveries restore, by UID of the recovery, in a folder of the manager. They are there before a Machine is deleted and until
 * the recovery needs them no more, whatever happens to the store, and are fetched once however often a step is repeated.
 */
export class KeptSnapshots {
  readonly #dir: string;
  readonly #verified = new Map<string, string>();

  constructor(dir: string) {
    this.#dir = dir;
  }

  /** The kept snapshot, or a fetched one that is verified. Throws SnapshotDamaged, and keeps nothing, if it is not whole. */
  async keep(uid: string, fetch: () => Promise<FetchedSnapshot>): Promise<KeptSnapshot> {
    const file = this.#pathOf(uid);
    const exists = (await stat(file).catch(() => undefined)) !== undefined;
    const known = this.#verified.get(uid);
    if (exists && known !== undefined) return { file, sha256: known };
    // Only one is damaged that the disk has spoiled since: the store may have a good one.
    const again = exists ? await verifySnapshot(file).catch(() => undefined) : undefined;
    if (again !== undefined) return this.#remember(uid, again);
    const fetched = await fetch();
    try {
      const sha256 = await verifySnapshot(fetched.file);
      await this.#take(fetched.file, file);
      return this.#remember(uid, sha256);
    } catch (error) {
      if (error instanceof SnapshotDamaged) await this.remove(uid);
      throw error;
    } finally {
      await fetched.release();
    }
  }

  async remove(uid: string): Promise<void> {
    this.#verified.delete(uid);
    for (const suffix of [SUFFIX, PARTIAL]) await rm(this.#pathOf(uid, suffix), { force: true });
  }

  /** Removes all but those of these recoveries. */
  async retain(uids: ReadonlySet<string>): Promise<void> {
    for (const name of await readdir(this.#dir).catch(() => [])) {
      const uid = [SUFFIX, PARTIAL].flatMap((suffix) =>
        name.endsWith(suffix) ? name.slice(0, -suffix.length) : [],
      )[0];
      if (uid !== undefined && !uids.has(uid)) await this.remove(uid);
    }
  }

  #remember(uid: string, sha256: string): KeptSnapshot {
    this.#verified.set(uid, sha256);
    return { file: this.#pathOf(uid), sha256 };
  }

  async #take(from: string, to: string): Promise<void> {
    await mkdir(this.#dir, { recursive: true, mode: 0o700 });
    await rm(to, { force: true });
    // Costs no space; the copy is for a folder on another disk.
    const linked = await link(from, to).then(
      () => true,
      () => false,
    );
    if (linked) return;
    const partial = to.slice(0, -SUFFIX.length) + PARTIAL;
    await copyFile(from, partial);
    await rename(partial, to);
  }

  #pathOf(uid: string, suffix = SUFFIX): string {
    return join(this.#dir, `${encodeURIComponent(uid)}${suffix}`);
  }
}
