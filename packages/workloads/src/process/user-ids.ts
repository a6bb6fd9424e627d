import { link, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { ownerDir } from "./layout.ts";

const FILE = "user-id";
/** Ids that neither distributions nor systemd nor container engines give to anybody. */
const FIRST = 1_900_000_000;
const LAST = 1_999_999_999;
/** What is taken on this machine, whichever manager took it. */
const REGISTRY = "/var/lib/capstan/user-ids";

/**
 * A user id for each owner of a root, chosen once and remembered in its folder, so that programs of different owners cannot read each
 * other's files, those of another manager's owners on the same machine included: an id is claimed in a folder that all managers know
 * (docs/decisions/0009). There is no entry in the password file: the kernel needs none.
 */
export class UserIds {
  private queue: Promise<unknown> = Promise.resolve();
  private readonly root: string;
  private readonly registry: string;

  constructor(root: string, registry = REGISTRY) {
    this.root = resolve(root);
    this.registry = registry;
  }

  /** The owner's id; the same answer every time. */
  allocate(owner: string): Promise<number> {
    return this.exclusive(() => this.allocateNow(owner));
  }

  /** Gives the id of an owner back whose folder, and with it every file of that user, is gone. */
  release(owner: string): Promise<void> {
    return this.exclusive(async () => {
      const dir = ownerDir(this.root, owner);
      for (const id of await this.claimed()) if ((await this.claimant(id)) === dir) await rm(this.claim(id));
    });
  }

  private async allocateNow(owner: string): Promise<number> {
    const dir = ownerDir(this.root, owner);
    const path = join(dir, FILE);
    const known = await readId(path);
    // Looked at before it is claimed: this is asked every minute, and reading writes nothing.
    if (known !== undefined && ((await this.claimant(known)) === dir || (await this.take(known, dir)))) return known;
    await mkdir(dir, { recursive: true, mode: 0o700 });
    const id = await this.takeAny(dir);
    await writeFile(`${path}.new`, String(id), { mode: 0o600 });
    await rename(`${path}.new`, path);
    return id;
  }

  private async takeAny(dir: string): Promise<number> {
    const taken = new Set<number>();
    for (const id of await this.claimed()) {
      // A manager that was killed before it wrote the id down.
      if ((await this.claimant(id)) === dir) return id;
      taken.add(id);
    }
    // Programs of managers that see another registry, as in a container of their own.
    for (const id of await usersOfProcesses()) taken.add(id);
    for (let id = FIRST; id <= LAST; id++) if (!taken.has(id) && (await this.take(id, dir))) return id;
    throw new Error(`no user id is left in ${this.registry}`);
  }

  /** Whether the id is this folder's now. Of several that try at the same time one succeeds. */
  private async take(id: number, dir: string): Promise<boolean> {
    await mkdir(this.registry, { recursive: true, mode: 0o700 });
    const draft = await mkdtemp(join(this.registry, ".claim-"));
    try {
      await writeFile(join(draft, FILE), dir, { mode: 0o600 });
      // With its content at once, which creating and then writing would not give.
      await link(join(draft, FILE), this.claim(id));
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
      return (await this.claimant(id)) === dir;
    } finally {
      await rm(draft, { recursive: true, force: true });
    }
  }

  private async claimed(): Promise<number[]> {
    const names = await readdir(this.registry).catch(() => []);
    return names.map(Number).filter((id) => Number.isInteger(id));
  }

  /** The folder an id was claimed for. */
  private claimant(id: number): Promise<string> {
    return readFile(this.claim(id), "utf8").catch(() => "");
  }

  private claim(id: number): string {
    return join(this.registry, String(id));
  }

  private exclusive<T>(work: () => Promise<T>): Promise<T> {
    const next = this.queue.then(work);
    this.queue = next.catch(() => undefined);
    return next;
  }
}

async function readId(path: string): Promise<number | undefined> {
  const id = Number(await readFile(path, "utf8").catch(() => ""));
  return Number.isInteger(id) && id >= FIRST && id <= LAST ? id : undefined;
}

async function usersOfProcesses(): Promise<Set<number>> {
  const pids = (await readdir("/proc").catch(() => [])).filter((name) => /^\d+$/.test(name));
  const users = await Promise.all(pids.map((pid) => stat(`/proc/${pid}`).catch(() => undefined)));
  return new Set(users.flatMap((user) => (user === undefined ? [] : [user.uid])));
}
