import { createHash } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { mkdir, mkdtemp, rm, stat } from "node:fs/promises";
import { type IncomingMessage, request as plainRequest } from "node:http";
import { request as secureRequest } from "node:https";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { type Clock, trimEndOf } from "@capstan/apimachinery";
import { atMost, type DialGate, readText, withinTime } from "@capstan/apimachinery/foreign";
import { type Backup, type BackupStore, backupTimeMs, DESCRIPTION, SNAPSHOT } from "./backup-store.ts";
import { elementText, readListing } from "./s3-xml.ts";
import { encode, sha256, signRequest } from "./sigv4.ts";

/** Location of an object store, and how to reach it. */
export interface S3Options {
  /** The field that these settings come from, for messages: `spec.etcd.backup.s3`. */
  field: string;
  /** e.g. `https://s3.eu-central-1.amazonaws.com` or `http://minio:9000`; the bucket is part of the path. */
  endpoint: string;
  bucket: string;
  prefix?: string;
  region?: string;
  accessKeyId: string;
  secretAccessKey: string;
  /** Where a snapshot is put while it is restored. */
  scratchDir: string;
  clock: Clock;
  /** Which addresses are dialled. */
  gate: DialGate;
}

/** Where the backups of these settings are, for people. */
export function s3Location({ endpoint, bucket, prefix }: Pick<S3Options, "endpoint" | "bucket" | "prefix">): string {
  return `${endpoint}/${bucket}${prefix === undefined ? "" : `/${prefix}`}`;
}

/** A request fails when the store is silent for this long. */
const SILENCE_MS = 75_000;
/** A page of a listing: 1000 keys of at most 1 KiB, with what else is said of each. */
const MAX_TEXT = 4 * 1024 * 1024;
const MAX_PAGES = 20;
const TEXT_MS = 120_000;
/** Beyond etcd's largest quota, with room for what is not compacted. */
const MAX_SNAPSHOT = 16 * 1024 ** 3;
const SNAPSHOT_MS = 6 * 3600_000;

/** Stores backups in an S3-compatible object store: `PREFIX/NAMESPACE/NAME/BACKUP/{snapshot.db,control-plane.json}`. */
export class S3Store implements BackupStore {
  readonly #options: S3Options;
  readonly location: string;

  constructor(options: S3Options) {
    this.#options = options;
    // URL normalization would remove such a part together with the one before it.
    if ([options.bucket, ...(options.prefix ?? "").split("/")].some((part) => part === "." || part === ".."))
      throw new Error(`${options.field}: bucket and prefix must not have the parts "." or ".."; choose other names`);
    this.location = s3Location(options);
  }

  async list(owner: string): Promise<Backup[]> {
    const sizes = new Map<string, number>();
    const complete = new Set<string>();
    let token: string | undefined;
    for (let pages = 1; pages === 1 || token !== undefined; pages++) {
      if (pages > MAX_PAGES) throw new Error(`${this.location} lists more than ${MAX_PAGES} pages of backups`);
      const query = { "list-type": "2", prefix: `${this.#key(owner)}/`, ...(token && { "continuation-token": token }) };
      const { objects, next } = readListing(await this.#text("GET", "", { query }));
      for (const { key, size } of objects) {
        const [name = "", file] = key.slice(this.#key(owner).length + 1).split("/");
        if (file === SNAPSHOT) sizes.set(name, size);
        // Written last: without it the backup is incomplete.
        if (file === DESCRIPTION && size > 0) complete.add(name);
      }
      token = next;
    }
    return [...complete]
      .flatMap((name) => {
        const [timeMs, sizeBytes = 0] = [backupTimeMs(name), sizes.get(name)];
        return timeMs === undefined || sizeBytes === 0 ? [] : [{ name, timeMs, sizeBytes }];
      })
      .toSorted((a, b) => (a.name < b.name ? -1 : 1));
  }

  async save(owner: string, name: string, snapshotFile: string, description: string): Promise<void> {
    const hash = createHash("sha256");
    for await (const chunk of createReadStream(snapshotFile)) hash.update(chunk as Buffer);
    const { size } = await stat(snapshotFile);
    const snapshot = { bodyHash: hash.digest("hex"), headers: { "content-length": String(size) } };
    const body = createReadStream(snapshotFile);
    await this.#text("PUT", `${this.#key(owner)}/${name}/${SNAPSHOT}`, { ...snapshot, body }, SNAPSHOT_MS);
    await this.#text("PUT", `${this.#key(owner)}/${name}/${DESCRIPTION}`, {
      body: description,
      bodyHash: sha256(description),
      headers: { "content-type": "application/json" },
    });
  }

  async description(owner: string, name: string): Promise<string> {
    return await this.#text("GET", `${this.#key(owner)}/${name}/${DESCRIPTION}`);
  }

  async snapshot(owner: string, name: string): Promise<{ file: string; release(): Promise<void> }> {
    await mkdir(this.#options.scratchDir, { recursive: true, mode: 0o700 });
    // Two restores may fetch the same backup.
    const folder = await mkdtemp(join(this.#options.scratchDir, `${owner.replace("/", "_")}-${name}-`));
    const file = join(folder, SNAPSHOT);
    const release = (): Promise<void> => rm(folder, { recursive: true, force: true });
    const key = `${this.#key(owner)}/${name}/${SNAPSHOT}`;
    try {
      await this.#within(SNAPSHOT_MS, async (signal) => {
        const answer = await this.#send("GET", key, {}, signal);
        const body = atMost(answer, MAX_SNAPSHOT, `${this.location}/${key}`);
        await pipeline(body, createWriteStream(file, { mode: 0o600 }), { signal });
      });
    } catch (error) {
      await release();
      throw error;
    }
    return { file, release };
  }

  async delete(owner: string, name: string): Promise<void> {
    // The description first: without it the backup no longer counts.
    for (const file of [DESCRIPTION, SNAPSHOT]) await this.#text("DELETE", `${this.#key(owner)}/${name}/${file}`);
  }

  #key(owner: string): string {
    return this.#options.prefix === undefined ? owner : `${this.#options.prefix}/${owner}`;
  }

  /** From the request to the end of the response: a store that sends a byte a minute is never silent. */
  #within<T>(ms: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    return withinTime({ clock: this.#options.clock, ms, what: this.#options.endpoint }, work);
  }

  #text(method: Method, key: string, what?: Sent, ms = TEXT_MS): Promise<string> {
    return this.#within(ms, async (signal) =>
      readText(await this.#send(method, key, what, signal), MAX_TEXT, `${this.location}/${key}`),
    );
  }

  async #send(method: Method, key: string, what: Sent = {}, signal?: AbortSignal): Promise<IncomingMessage> {
    const { endpoint, bucket, region, accessKeyId, secretAccessKey, clock } = this.#options;
    const path = [bucket, ...key.split("/").filter(Boolean)].map(encode).join("/");
    const url = new URL(`${trimEndOf(endpoint, "/")}/${path}`);
    for (const [name, value] of Object.entries(what.query ?? {})) url.searchParams.set(name, value);
    const headers = signRequest({
      method,
      url,
      headers: what.headers ?? {},
      bodyHash: what.bodyHash ?? sha256(""),
      region: region ?? "us-east-1",
      accessKeyId,
      secretAccessKey,
      nowMs: clock.now(),
    });
    const answer = await this.#exchange(url, method, headers, what.body, signal);
    const status = answer.statusCode ?? 0;
    if (status >= 200 && status < 300) return answer;
    const text = await readText(answer, MAX_TEXT, url.origin);
    throw Object.assign(
      new Error(
        `${method} ${url.origin}${url.pathname}: the store answered ${status}${meaning(text, this.#options.field)}`,
      ),
      status === 404 ? { code: "ENOENT" } : {},
    );
  }

  /** Uses Node's own client: undici 7 crashes the process when a store closes the connection before all of a snapshot is written. */
  #exchange(
    url: URL,
    method: string,
    headers: Record<string, string>,
    body: string | Readable | undefined,
    signal: AbortSignal | undefined,
  ): Promise<IncomingMessage> {
    // A new connection: the address of a pooled one may not have been checked.
    const guard = { ...this.#options.gate.guardUrl(url), agent: false as const };
    return new Promise((resolve, reject) => {
      const open = url.protocol === "https:" ? secureRequest : plainRequest;
      const given = { method, headers, timeout: SILENCE_MS, ...guard, ...(signal === undefined ? {} : { signal }) };
      const call = open(url, given, resolve);
      call.once("error", reject);
      call.once("timeout", () => call.destroy(new Error(`${url.origin} does not respond`)));
      if (body === undefined || typeof body === "string") call.end(body);
      else pipeline(body, call).catch(reject);
    });
  }
}

type Method = "GET" | "PUT" | "DELETE";

interface Sent {
  query?: Record<string, string>;
  headers?: Record<string, string>;
  body?: string | Readable;
  bodyHash?: string;
}

/** Messages for error codes. The store's own text is not repeated: it would show in a condition to whoever chose the address. */
const MEANINGS: Readonly<Record<string, string | ((field: string) => string)>> = {
  AccessDenied: "the credentials in the Secret lack permission for this",
  AllAccessDisabled: "the credentials in the Secret lack permission for this",
  InvalidAccessKeyId: "the accessKeyId in the Secret is unknown",
  SignatureDoesNotMatch: "the secretAccessKey in the Secret does not match the accessKeyId",
  NoSuchBucket: "the bucket does not exist",
  NoSuchKey: "the object does not exist",
  PermanentRedirect: (field) => `the bucket is in another region: correct ${field}.endpoint and region`,
  AuthorizationHeaderMalformed: (field) => `correct ${field}.region`,
  RequestTimeTooSkewed: "the clocks of the store and the management host differ",
  EntityTooLarge: "the snapshot exceeds the maximum object size",
  QuotaExceeded: "the quota is exceeded",
  SlowDown: "the store is overloaded",
};

function meaning(xml: string, field: string): string {
  const code = elementText(xml, "Code") ?? "";
  const found = Object.hasOwn(MEANINGS, code) ? MEANINGS[code] : undefined;
  return found === undefined ? "" : ` (${code}): ${typeof found === "string" ? found : found(field)}`;
}
