import { createHash } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { mkdir, rm, stat } from "node:fs/promises";
import { type IncomingMessage, request as plainRequest } from "node:http";
import { request as secureRequest } from "node:https";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Clock } from "@capstan/apimachinery";
import { type Backup, type BackupStore, backupTimeMs, DESCRIPTION, SNAPSHOT } from "./backup-store.ts";
import { encode, sha256, signRequest } from "./sigv4.ts";

export interface S3Options {
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
}

/** A store that says nothing for this long is given up. */
const SILENCE_MS = 75_000;

/** Backups in an S3-compatible object store: `PREFIX/NAMESPACE/NAME/BACKUP/{snapshot.db,control-plane.json}`. */
export class S3Store implements BackupStore {
  private readonly options: S3Options;
  readonly location: string;

  constructor(options: S3Options) {
    this.options = options;
    this.location = `${options.endpoint}/${options.bucket}${options.prefix === undefined ? "" : `/${options.prefix}`}`;
  }

  async list(owner: string): Promise<Backup[]> {
    const sizes = new Map<string, number>();
    const complete = new Set<string>();
    let token: string | undefined;
    do {
      const query = { "list-type": "2", prefix: `${this.key(owner)}/`, ...(token && { "continuation-token": token }) };
      const text = await textOf(await this.send("GET", "", { query }));
      for (const [, content = ""] of text.matchAll(/<Contents>(.*?)<\/Contents>/gs)) {
        const [name = "", file] = (element(content, "Key") ?? "").slice(this.key(owner).length + 1).split("/");
        if (file === SNAPSHOT) sizes.set(name, Number(element(content, "Size")));
        // Written last: without it the backup is not whole.
        if (file === DESCRIPTION) complete.add(name);
      }
      token = element(text, "NextContinuationToken");
    } while (token !== undefined);
    return [...complete]
      .flatMap((name) => {
        const timeMs = backupTimeMs(name);
        return timeMs === undefined ? [] : [{ name, timeMs, sizeBytes: sizes.get(name) ?? 0 }];
      })
      .toSorted((a, b) => (a.name < b.name ? -1 : 1));
  }

  async save(owner: string, name: string, snapshotFile: string, description: string): Promise<void> {
    const hash = createHash("sha256");
    for await (const chunk of createReadStream(snapshotFile)) hash.update(chunk as Buffer);
    const { size } = await stat(snapshotFile);
    const snapshot = { bodyHash: hash.digest("hex"), headers: { "content-length": String(size) } };
    await this.done(
      this.send("PUT", `${this.key(owner)}/${name}/${SNAPSHOT}`, { ...snapshot, body: createReadStream(snapshotFile) }),
    );
    await this.done(
      this.send("PUT", `${this.key(owner)}/${name}/${DESCRIPTION}`, {
        body: description,
        bodyHash: sha256(description),
        headers: { "content-type": "application/json" },
      }),
    );
  }

  async description(owner: string, name: string): Promise<string> {
    return await textOf(await this.send("GET", `${this.key(owner)}/${name}/${DESCRIPTION}`));
  }

  async snapshot(owner: string, name: string): Promise<{ file: string; release(): Promise<void> }> {
    await mkdir(this.options.scratchDir, { recursive: true, mode: 0o700 });
    const file = join(this.options.scratchDir, `${owner.replace("/", "_")}-${name}.db`);
    const answer = await this.send("GET", `${this.key(owner)}/${name}/${SNAPSHOT}`);
    await pipeline(answer, createWriteStream(file, { mode: 0o600 }));
    return { file, release: () => rm(file, { force: true }) };
  }

  async delete(owner: string, name: string): Promise<void> {
    // The description first: half a backup is none.
    for (const file of [DESCRIPTION, SNAPSHOT])
      await this.done(this.send("DELETE", `${this.key(owner)}/${name}/${file}`));
  }

  private key(owner: string): string {
    return this.options.prefix === undefined ? owner : `${this.options.prefix}/${owner}`;
  }

  private async done(answer: Promise<IncomingMessage>): Promise<void> {
    await textOf(await answer);
  }

  private async send(
    method: "GET" | "PUT" | "DELETE",
    key: string,
    what: {
      query?: Record<string, string>;
      headers?: Record<string, string>;
      body?: string | Readable;
      bodyHash?: string;
    } = {},
  ): Promise<IncomingMessage> {
    const { endpoint, bucket, region, accessKeyId, secretAccessKey, clock } = this.options;
    const path = [bucket, ...key.split("/").filter(Boolean)].map(encode).join("/");
    const url = new URL(`${endpoint.replace(/\/+$/, "")}/${path}`);
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
    const answer = await exchange(url, method, headers, what.body);
    const status = answer.statusCode ?? 0;
    if (status >= 200 && status < 300) return answer;
    const text = await textOf(answer);
    const why = `${element(text, "Code") ?? status}: ${element(text, "Message") ?? text.slice(0, 200)}`;
    throw Object.assign(
      new Error(`${method} ${url.origin}${url.pathname}: ${why}`),
      status === 404 ? { code: "ENOENT" } : {},
    );
  }
}

/** By Node's own client: undici 7 ends the whole process when a store closes the connection before all of a snapshot is written. */
function exchange(
  url: URL,
  method: string,
  headers: Record<string, string>,
  body: string | Readable | undefined,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const open = url.protocol === "https:" ? secureRequest : plainRequest;
    const call = open(url, { method, headers, timeout: SILENCE_MS }, resolve);
    call.once("error", reject);
    call.once("timeout", () => call.destroy(new Error(`${url.origin} says nothing`)));
    if (body === undefined || typeof body === "string") call.end(body);
    else pipeline(body, call).catch(reject);
  });
}

async function textOf(answer: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of answer) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}

/** The text of the first element of a name; S3's answers need no more of XML than that. */
function element(xml: string, name: string): string | undefined {
  const match = new RegExp(`<${name}>(?:<!\\[CDATA\\[(.*?)\\]\\]>|([^<]*))</${name}>`, "s").exec(xml);
  if (match?.[1] !== undefined) return match[1];
  return match?.[2]
    ?.replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&apos;", "'")
    .replaceAll("&amp;", "&");
}
