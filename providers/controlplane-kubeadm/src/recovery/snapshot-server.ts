import { createHash, timingSafeEqual } from "node:crypto";
import { createReadStream } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer, type Server } from "node:https";
import { pipeline } from "node:stream/promises";
import { type Clock, HTTP_TIME_LIMITS, limitConnections, type Random, TLS_TIME_LIMITS } from "@capstan/apimachinery";
import { hostPort, isIPAddress } from "@capstan/controlplane";
import { BACKDATE_MS, createCertificateAuthority, issueCertificate } from "@capstan/pki";

const VALID_MS = 365 * 24 * 3_600_000;
const ADDRESS = /^https:\/\/[^/]+:(\d{1,5})\/[0-9a-f]{64}$/;
const [FIRST_PORT, LAST_PORT] = [1024, 65_535];
const CONNECTIONS = { maxConnections: 256, maxUnauthenticatedPerAddress: 16, quietMs: 30_000, answerMs: 30_000 };

/** Dependencies of a SnapshotServer. */
export interface SnapshotServerOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** Address of this machine that nodes reach. */
  readonly host: string;
}

/** Where a snapshot is served. */
export interface ServedSnapshot {
  readonly url: string;
  readonly caPem: string;
}

/** A file to serve, which may have been fetched only for that. */
export interface ServedFile {
  readonly file: string;
  /** Removes it when it is not served any more. */
  release(): Promise<void>;
}

interface Serving {
  readonly server: Server;
  readonly release: () => Promise<void>;
}

/** What makes an address the same after a restart: machines that were given it fetch the snapshot from there. Whoever has it can pose as the server. */
export interface SnapshotAddress extends ServedSnapshot {
  readonly certPem: string;
  readonly keyPem: string;
}

/** An address as JSON; undefined unless it is one that this server could have made, since tenants may write it. */
export function parseAddress(text: string): SnapshotAddress | undefined {
  try {
    const { url, caPem, certPem, keyPem } = JSON.parse(text) as Record<string, unknown>;
    const port = typeof url === "string" ? Number(ADDRESS.exec(url)?.[1]) : 0;
    if (typeof url !== "string" || !(port >= FIRST_PORT && port <= LAST_PORT)) return undefined;
    if (typeof caPem !== "string" || typeof certPem !== "string" || typeof keyPem !== "string") return undefined;
    return { url, caPem, certPem, keyPem };
  } catch {
    return undefined;
  }
}

/** Serves snapshots of etcd to new Machines over HTTPS, each at an unguessable address, as long as a recovery needs it. */
export class SnapshotServer {
  readonly #options: SnapshotServerOptions;
  readonly #byKey = new Map<string, Serving>();

  constructor(options: SnapshotServerOptions) {
    this.#options = options;
  }

  /** Serves a file until it is withdrawn, at the address that it had before if there is one. Fails if that cannot be used any more. */
  async publish(key: string, snapshot: ServedFile, before?: SnapshotAddress): Promise<SnapshotAddress> {
    await this.withdraw(key);
    const { host, random } = this.#options;
    const known = before === undefined ? undefined : new URL(before.url);
    if (known !== undefined && known.hostname !== new URL(`https://${hostPort(host, 1)}`).hostname)
      throw new Error(`a snapshot is expected at ${known.host}, and this machine is ${host} now`);
    const token = known?.pathname.slice(1) ?? Buffer.from(random.bytes(32)).toString("hex");
    const identity = before ?? (await this.#identity());
    const { server, port } = await this.#listen(identity, Number(known?.port ?? 0), { token, file: snapshot.file });
    this.#byKey.set(key, { server, release: () => snapshot.release() });
    const { caPem, certPem, keyPem } = identity;
    return { url: `https://${hostPort(host, port)}/${token}`, caPem, certPem, keyPem };
  }

  /** Whether a file is served under a key: not after a restart. */
  serves(key: string): boolean {
    return this.#byKey.has(key);
  }

  async withdraw(key: string): Promise<void> {
    const serving = this.#byKey.get(key);
    this.#byKey.delete(key);
    if (serving === undefined) return;
    const { server, release } = serving;
    server.closeAllConnections();
    await new Promise<void>((resolve) => server.close(() => resolve()));
    await release();
  }

  /** Withdraws all but these: nothing is served for a recovery that was deleted. */
  async keep(keys: ReadonlySet<string>): Promise<void> {
    for (const key of this.#byKey.keys()) if (!keys.has(key)) await this.withdraw(key);
  }

  async close(): Promise<void> {
    for (const key of this.#byKey.keys()) await this.withdraw(key);
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
