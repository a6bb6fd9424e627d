import { createHash } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { mkdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Clock } from "@capstan/apimachinery";
import { request } from "undici";
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

interface Answer {
  status: number;
  body: Readable & { text(): Promise<string>; dump(): Promise<void> };
}

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
      const answer = await this.send("GET", "", { query });
      const text = await answer.body.text();
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
    return await (await this.send("GET", `${this.key(owner)}/${name}/${DESCRIPTION}`)).body.text();
  }

  async snapshot(owner: string, name: string): Promise<{ file: string; release(): Promise<void> }> {
    await mkdir(this.options.scratchDir, { recursive: true, mode: 0o700 });
    const file = join(this.options.scratchDir, `${owner.replace("/", "_")}-${name}.db`);
    const answer = await this.send("GET", `${this.key(owner)}/${name}/${SNAPSHOT}`);
    await pipeline(answer.body, createWriteStream(file, { mode: 0o600 }));
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

  private async done(answer: Promise<Answer>): Promise<void> {
    await (await answer).body.dump();
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
  ): Promise<Answer> {
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
    const answer = await request(url, { method, headers, body: what.body ?? null });
    if (answer.statusCode >= 200 && answer.statusCode < 300) return { status: answer.statusCode, body: answer.body };
    const text = await answer.body.text();
    const why = `${element(text, "Code") ?? answer.statusCode}: ${element(text, "Message") ?? text.slice(0, 200)}`;
    throw Object.assign(
      new Error(`${method} ${url.origin}${url.pathname}: ${why}`),
      answer.statusCode === 404 ? { code: "ENOENT" } : {},
    );
  }
}

/** The text of the first element of a name; S3's answers need no more of XML than that. */
function element(xml: string, name: string): string | undefined {
  const match = new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml);
  return match?.[1]
    ?.replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&apos;", "'")
    .replaceAll("&amp;", "&");
}
