import { createHash, timingSafeEqual } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdir, readdir, readFile, rm } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer, type Server } from "node:https";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { type Clock, HTTP_TIME_LIMITS, limitConnections, type Random, TLS_TIME_LIMITS } from "@capstan/apimachinery";
import { hostPort, isIPAddress } from "@capstan/controlplane";
import { writeFileAtomic } from "@capstan/os";
import { BACKDATE_MS, createCertificateAuthority, issueCertificate } from "@capstan/pki";

const VALID_MS = 365 * 24 * 3_600_000;
/** Names of the files with addresses, below the manager's data directory. */
const SUFFIX = ".json";
const CONNECTIONS = { maxConnections: 256, maxUnauthenticatedPerAddress: 16, quietMs: 30_000, answerMs: 30_000 };

/** Dependencies of a SnapshotServer. */
export interface SnapshotServerOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** Address of this machine that nodes reach. */
  readonly host: string;
  /** Folder of the manager for the addresses and keys: whoever could write them would choose where the manager listens. */
  readonly dir: string;
  /** Ports that belong to other programs, also while these do not run. */
  readonly taken: () => Promise<ReadonlySet<number>>;
}

/** Where a snapshot is served. */
export interface ServedSnapshot {
  readonly url: string;
  readonly caPem: string;
}

/** What makes an address the same after a restart: machines that were given it fetch the snapshot from there. Whoever has it can pose as the server. */
interface SnapshotAddress extends ServedSnapshot {
  readonly certPem: string;
  readonly keyPem: string;
}

/** Serves snapshots of etcd to new Machines over HTTPS, each at an unguessable address, as long as a recovery needs it. */
export class SnapshotServer {
  readonly #options: SnapshotServerOptions;
  readonly #byKey = new Map<string, Server>();

  constructor(options: SnapshotServerOptions) {
    this.#options = options;
  }

  /**
   * Serves a file until it is withdrawn, at the address that it had before. Once a machine knows the address no other one is chosen: then it
   * fails if that one cannot be used any more.
   */
  async publish(key: string, file: string, isKnown: boolean): Promise<ServedSnapshot> {
    await this.#stop(key);
    const before = await this.#stored(key);
    if (before === undefined && isKnown)
      throw new Error("its address is not in the data directory of this manager, which has lost or never had it");
    const serving = before === undefined ? undefined : this.#again(key, file, before);
    if (serving !== undefined && isKnown) return await serving;
    return (await serving?.catch(() => undefined)) ?? (await this.#first(key, file));
  }

  /** Whether a file is served under a key: not after a restart. */
  serves(key: string): boolean {
    return this.#byKey.has(key);
  }

  /** Ends the serving of a file and forgets its address. */
  async withdraw(key: string): Promise<void> {
    await this.#stop(key);
    await rm(this.#pathOf(key), { force: true });
  }

  /** Withdraws all but these: nothing is served for a recovery that was deleted. */
  async keep(keys: ReadonlySet<string>): Promise<void> {
    const files = await readdir(this.#options.dir).catch(() => []);
    const stored = files.filter((name) => name.endsWith(SUFFIX)).map((name) => name.slice(0, -SUFFIX.length));
    for (const key of new Set([...this.#byKey.keys(), ...stored])) if (!keys.has(key)) await this.withdraw(key);
  }

  /** Stops serving; the next manager serves at the same addresses. */
  async close(): Promise<void> {
    for (const key of this.#byKey.keys()) await this.#stop(key);
  }

  async #first(key: string, file: string): Promise<ServedSnapshot> {
    const token = Buffer.from(this.#options.random.bytes(32)).toString("hex");
    const identity = await this.#identity();
    const taken = await this.#options.taken();
    for (;;) {
      const { server, port } = await this.#listen(identity, 0, { token, file });
      if (taken.has(port)) {
        await close(server);
        continue;
      }
      const url = `https://${hostPort(this.#options.host, port)}/${token}`;
      this.#byKey.set(key, server);
      // Before a machine can learn of it.
      await mkdir(this.#options.dir, { recursive: true, mode: 0o700 });
      await writeFileAtomic(this.#pathOf(key), JSON.stringify({ ...identity, url }));
      return { url, caPem: identity.caPem };
    }
  }

  async #again(key: string, file: string, { url, ...identity }: SnapshotAddress): Promise<ServedSnapshot> {
    const known = new URL(url);
    const { host } = this.#options;
    if (known.hostname !== new URL(`https://${hostPort(host, 1)}`).hostname)
      throw new Error(`a snapshot is expected at ${known.host}, and this machine is ${host} now`);
    const token = known.pathname.slice(1);
    const { server } = await this.#listen(identity, Number(known.port), { token, file });
    this.#byKey.set(key, server);
    return { url, caPem: identity.caPem };
  }

  async #stop(key: string): Promise<void> {
    const server = this.#byKey.get(key);
    this.#byKey.delete(key);
    if (server !== undefined) await close(server);
  }

  async #stored(key: string): Promise<SnapshotAddress | undefined> {
    try {
      return JSON.parse(await readFile(this.#pathOf(key), "utf8")) as SnapshotAddress;
    } catch {
      return undefined;
    }
  }

  #pathOf(key: string): string {
    return join(this.#options.dir, `${encodeURIComponent(key)}${SUFFIX}`);
  }

  async #identity(): Promise<Omit<SnapshotAddress, "url">> {
    const { clock, random, host } = this.#options;
    const nowMs = clock.now();
    const common = { algorithm: "ECDSA-P256" as const, validMs: VALID_MS, random };
    const authority = await createCertificateAuthority({
      ...common,
      commonName: "capstan-recovery",
      notBeforeMs: nowMs - BACKDATE_MS,
    });
    const { certPem, keyPem } = await issueCertificate(authority, {
      ...common,
      nowMs,
      commonName: host,
      usages: ["server"],
      ...(isIPAddress(host) ? { ipAddresses: [host] } : { dnsNames: [host] }),
    });
    return { caPem: authority.certPem, certPem, keyPem };
  }

  async #listen(
    { certPem, keyPem }: Pick<SnapshotAddress, "certPem" | "keyPem">,
    port: number,
    what: { readonly token: string; readonly file: string },
  ): Promise<{ server: Server; port: number }> {
    const { clock, host } = this.#options;
    const server = createServer(
      { cert: certPem, key: keyPem, ...HTTP_TIME_LIMITS, ...TLS_TIME_LIMITS },
      (request, response) => void serve(what, request, response),
    );
    limitConnections(server, CONNECTIONS, clock);
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(port, host, () => {
        server.off("error", reject);
        resolve();
      });
    });
    server.unref();
    const address = server.address();
    return { server, port: typeof address === "object" && address !== null ? address.port : 0 };
  }
}

async function close(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise<void>((resolve) => server.close(() => resolve()));
}

async function serve(
  { token, file }: { readonly token: string; readonly file: string },
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (request.method !== "GET" || !sameText((request.url ?? "").slice(1), token)) {
    response.writeHead(404).end();
    return;
  }
  response.writeHead(200, { "content-type": "application/octet-stream" });
  await pipeline(createReadStream(file), response).catch(() => response.destroy());
}

/** Takes as long whatever is different. */
function sameText(a: string, b: string): boolean {
  const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}
