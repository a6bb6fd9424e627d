import { link, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { syncDirectory, writeFileAtomic } from "@capstan/os";
import { ownerDir } from "./layout.ts";

const FILE = "user-id";
/** IDs that neither distributions nor systemd nor container engines assign. */
const FIRST_KNOWN = 1_900_000_000;
/** Versions that used ids again took the lowest free one: above this they never came. */
const FIRST = 1_910_000_000;
const LAST = 1_999_999_999;
/** What is taken on this machine, whichever manager took it. */
const REGISTRY = "/var/lib/capstan/user-ids";
/** In a root: the highest id that was given there, for when the registry was lost, as with a container that is made again. */
const HIGHEST = ".highest-user-id";
/** Content of the claim of an owner that was deleted. */
const RETIRED = "";

/**
 * Assigns a user ID to each owner of a root and stores it in its folder. IDs only grow and are never reused on this machine, even after an
 * owner is deleted, so that leftover files belong to no one (docs/decisions/0011). No password entry is needed.
 */
export class UserIds {
  #queue: Promise<unknown> = Promise.resolve();
  readonly #root: string;
  readonly #registry: string;
  readonly #last: number;
  readonly #users: () => Promise<number[]>;

  /** `users` are the ids of running processes; others in tests. */
  constructor(root: string, registry = REGISTRY, last = LAST, users = usersOfProcesses) {
    this.#root = resolve(root);
    this.#registry = registry;
    this.#last = last;
    this.#users = users;
  }

  /** The owner's id; the same answer every time. */
  allocate(owner: string): Promise<number> {
    return this.#exclusive(() => this.#allocateNow(owner));
  }

  /** Retires the ID of an owner whose folder was deleted. */
  release(owner: string): Promise<void> {
    return this.#exclusive(async () => {
      const dir = ownerDir(this.#root, owner);
      for (const id of await this.#claimed()) if ((await this.#claimant(id)) === dir) await this.#retire(id);
    });
  }

  async #allocateNow(owner: string): Promise<number> {
    const dir = ownerDir(this.#root, owner);
    const path = join(dir, FILE);
    const known = await readId(path);
    // A folder that was copied, or came from another machine or out of a backup, carries an id that is not its own.
    if (known !== undefined && (await this.#claimant(known)) === dir) return known;
    await mkdir(dir, { recursive: true, mode: 0o700 });
    const id = await this.#takeNext(dir);
    await writeFileAtomic(path, String(id));
    return id;
  }

  async #takeNext(dir: string): Promise<number> {
    const claimed = await this.#claimed();
    const mark = join(this.#root, HIGHEST);
    // Programs of managers that see another registry, as in a container of their own, count too.
    const others = [...(await this.#users()), (await readId(mark)) ?? 0].filter(
      (id) => id >= FIRST && id <= this.#last,
    );
    let id = Math.max(FIRST - 1, ...claimed, ...others);
    do {
      id++;
      if (id > this.#last)
        throw new Error(
          `no user id is left for ${dir}: all up to ${this.#last} were allocated on this machine, and none is reused; run further hosted control planes on another machine or in pods`,
        );
    } while (!(await this.#take(id, dir)));
    // Managers that were faster may have given this id, and retired it, since the claims were read. The highest claim never goes, so
    // that only an id below another can have had an owner.
    if ((await this.#claimed()).some((other) => other > id)) {
      await this.#retire(id);
      return await this.#takeNext(dir);
    }
    await writeFileAtomic(mark, String(id));
    // Claims of this folder from before: it was deleted by hand, or its manager was killed before it wrote the id down.
    for (const old of claimed) {
      const claimant = await this.#claimant(old);
      if (claimant === dir || claimant === RETIRED) await this.#retire(old);
    }
    return id;
  }

  /** Whether the id is this folder's now. Of several that try at the same time one succeeds. */
  async #take(id: number, dir: string): Promise<boolean> {
    await mkdir(this.#registry, { recursive: true, mode: 0o700 });
    const draft = await mkdtemp(join(this.#registry, ".claim-"));
    try {
      await writeFile(join(draft, FILE), dir, { mode: 0o600, flush: true });
      // Atomically with its content, unlike creating and then writing.
      await link(join(draft, FILE), this.#claim(id));
      await syncDirectory(this.#registry);
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
      return false;
    } finally {
      await rm(draft, { recursive: true, force: true });
    }
  }

  /** The highest claim is kept, since it says which ids were given; with a higher one there the others are not needed. */
  async #retire(id: number): Promise<void> {
    await writeFileAtomic(this.#claim(id), RETIRED);
    if ((await this.#claimed()).some((other) => other > id)) await rm(this.#claim(id), { force: true });
  }

  async #claimed(): Promise<number[]> {
    const names = await readdir(this.#registry).catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return [];
      throw error;
    });
    return names.filter((name) => /^\d+$/.test(name)).map(Number);
  }

  /** The folder an id was claimed for. */
  #claimant(id: number): Promise<string> {
    return readFile(this.#claim(id), "utf8").catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return RETIRED;
      throw error;
    });
  }

  #claim(id: number): string {
    return join(this.#registry, String(id));
  }

  #exclusive<T>(work: () => Promise<T>): Promise<T> {
    const next = this.#queue.then(work);
    this.#queue = next.catch(() => undefined);
    return next;
  }
}

async function readId(path: string): Promise<number | undefined> {
  const id = Number(await readFile(path, "utf8").catch(() => ""));
  return Number.isInteger(id) && id >= FIRST_KNOWN && id <= LAST ? id : undefined;
}

async function usersOfProcesses(): Promise<number[]> {
  const pids = (await readdir("/proc").catch(() => [])).filter((name) => /^\d+$/.test(name));
  const users = await Promise.all(pids.map((pid) => stat(`/proc/${pid}`).catch(() => undefined)));
  return users.flatMap((user) => (user === undefined ? [] : [user.uid]));
}
