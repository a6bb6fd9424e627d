import { mkdir, readdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ownerDir } from "./layout.ts";

const FILE = "user-id";
/** Ids that neither distributions nor systemd nor container engines give to anybody. */
const FIRST = 1_900_000_000;
const LAST = 1_999_999_999;

/**
 * A user id for each owner of a root, chosen once and remembered in its folder, so that programs of different owners cannot read each
 * other's files. There is no entry in the password file: the kernel needs none.
 */
export class UserIds {
  private queue: Promise<unknown> = Promise.resolve();
  private readonly root: string;

  constructor(root: string) {
    this.root = root;
  }

  /** The owner's id; the same answer every time. */
  allocate(owner: string): Promise<number> {
    const next = this.queue.then(() => this.allocateNow(owner));
    this.queue = next.catch(() => undefined);
    return next;
  }

  private async allocateNow(owner: string): Promise<number> {
    const dir = ownerDir(this.root, owner);
    const path = join(dir, FILE);
    const known = await readId(path);
    if (known !== undefined) return known;
    const taken = new Set<number>();
    for (const namespace of await names(this.root))
      for (const name of await names(join(this.root, namespace))) {
        const id = await readId(join(this.root, namespace, name, FILE));
        if (id !== undefined) taken.add(id);
      }
    let id = FIRST;
    while (taken.has(id) && id < LAST) id++;
    await mkdir(dir, { recursive: true, mode: 0o700 });
    await writeFile(`${path}.new`, String(id), { mode: 0o600 });
    await rename(`${path}.new`, path);
    return id;
  }
}

async function names(path: string): Promise<string[]> {
  const entries = await readdir(path, { withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
}

async function readId(path: string): Promise<number | undefined> {
  const id = Number(await readFile(path, "utf8").catch(() => ""));
  return Number.isInteger(id) && id >= FIRST && id <= LAST ? id : undefined;
}
