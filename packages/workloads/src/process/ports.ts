import { mkdir, readdir, readFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { writeFileAtomic } from "@capstan/os";
import { ownerDir } from "./layout.ts";

const FILE = "ports.json";

/**
 * Allocates ports to an owner's programs: chosen once, stored in its folder, never given to another owner of this root. Allocations are
 * serialized per root, so that two control planes that start together never choose the same port.
 */
export class PortAllocator {
  #queue: Promise<unknown> = Promise.resolve();
  readonly #root: string;

  constructor(root: string) {
    this.#root = root;
  }

  /** The ports for `names`, allocating those not yet known. `fixed` names a port that must be that one. */
  allocate(
    owner: string,
    names: string[],
    host: string,
    fixed: Record<string, number> = {},
  ): Promise<Record<string, number>> {
    const next = this.#queue.then(() => this.#allocateNow(owner, names, host, fixed));
    this.#queue = next.catch(() => undefined);
    return next;
  }

  async #allocateNow(
    owner: string,
    names: string[],
    host: string,
    fixed: Record<string, number>,
  ): Promise<Record<string, number>> {
    const dir = ownerDir(this.#root, owner);
    const path = join(dir, FILE);
    const known = await readPorts(path);
    const missing = names.filter(
      (name) => known[name] === undefined || (fixed[name] !== undefined && known[name] !== fixed[name]),
    );
    if (missing.length > 0) {
      const others = await allocatedPorts(this.#root, owner);
      const taken = new Set([...others.keys(), ...Object.values(known)]);
      for (const name of missing) {
        const wanted = fixed[name];
        const holder = wanted === undefined ? undefined : others.get(wanted);
        if (holder !== undefined) throw new PortTakenError(wanted ?? 0, holderFor(owner, holder));
        const port = wanted ?? (await freePort(host, taken));
        taken.add(port);
        known[name] = port;
      }
      await mkdir(dir, { recursive: true, mode: 0o700 });
      await writeFileAtomic(path, JSON.stringify(known));
    }
    return Object.fromEntries(names.map((name) => [name, known[name] ?? 0]));
  }
}

/** Ports of the owners of a root with their owner, also of programs that do not run right now: they will want them back. */
export async function allocatedPorts(root: string, except?: string): Promise<Map<number, string>> {
  const taken = new Map<number, string>();
  for (const namespace of await folders(root))
    for (const name of await folders(join(root, namespace))) {
      const owner = `${namespace}/${name}`;
      if (owner === except) continue;
      for (const port of Object.values(await readPorts(join(root, owner, FILE)))) taken.set(port, owner);
    }
  return taken;
}

/** Thrown when a fixed port already belongs to another owner. */
export class PortTakenError extends Error {
  constructor(port: number, holder: string) {
    super(`port ${port} belongs to ${holder}`);
    this.name = "PortTakenError";
  }
}

/** How errors name another owner: without its name if it is in another namespace. */
function holderFor(owner: string, holder: string): string {
  const namespaceOf = (text: string): string => text.slice(0, text.indexOf("/"));
  return namespaceOf(owner) === namespaceOf(holder) ? holder : "a control plane of another namespace";
}

async function folders(path: string): Promise<string[]> {
  const entries = await readdir(path, { withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
}

async function readPorts(path: string): Promise<Record<string, number>> {
  try {
    return JSON.parse(await readFile(path, "utf8")) as Record<string, number>;
  } catch {
    return {};
  }
}

async function freePort(host: string, taken: Set<number>): Promise<number> {
  for (;;) {
    const port = await bindAnyPort(host);
    if (!taken.has(port)) return port;
  }
}

function bindAnyPort(host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen({ host, port: 0 }, () => {
      const address = server.address();
      server.close(() =>
        address !== null && typeof address === "object" ? resolve(address.port) : reject(new Error("no port")),
      );
    });
  });
}

/** Explains why a fixed address cannot be bound; undefined when it can. */
export function bindProblem(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)));
  });
}
