import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdir, open, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { pipeline } from "node:stream/promises";
import type { ReadableStream } from "node:stream/web";

/** An installation that did not succeed; `cure` says what a person can do. */
export class InstallError extends Error {
  readonly cure: string;

  constructor(message: string, cure: string) {
    super(message);
    this.name = "InstallError";
    this.cure = cure;
  }
}

export interface DownloadOptions {
  url: string;
  file: string;
  sha256: string;
  onProgress?: (received: number, total: number | undefined) => void;
  signal?: AbortSignal;
}

/**
 * Fetches a file whose checksum is known. A transfer that was cut is gone on with where it ended; a file with another checksum never
 * gets its final name.
 */
export async function download(options: DownloadOptions): Promise<void> {
  const part = `${options.file}.part`;
  await mkdir(dirname(options.file), { recursive: true });
  const have = (await stat(part).catch(() => undefined))?.size ?? 0;
  const response = await request(options.url, have === 0 ? {} : { range: `bytes=${have}-` }, options.signal);
  // 416: all of it is here already; 200: the server does not resume and sends everything.
  const resumed = response.status === 206;
  if (response.status !== 416) {
    if (!response.ok || response.body === null) throw notThere(options.url, response.status);
    const length = response.headers.get("content-length");
    const start = resumed ? have : 0;
    await receive(
      response.body as ReadableStream,
      part,
      start,
      length === null ? undefined : start + Number(length),
      options,
    );
  }
  const actual = await sha256Of(part);
  if (actual !== options.sha256) {
    await rm(part, { force: true });
    throw new InstallError(
      `${options.url}: checksum ${actual} is not the expected ${options.sha256}`,
      "the file was changed on the way or at its source: try again, or use another --mirror",
    );
  }
  await rename(part, options.file);
}

async function receive(
  body: ReadableStream,
  part: string,
  start: number,
  total: number | undefined,
  options: DownloadOptions,
): Promise<void> {
  let received = start;
  // Written chunk by chunk, so that all that came before a cut is on disk for the next try.
  const file = await open(part, start > 0 ? "a" : "w");
  try {
    for await (const chunk of body as AsyncIterable<Uint8Array>) {
      await file.write(chunk);
      received += chunk.length;
      options.onProgress?.(received, total);
    }
  } catch (error) {
    throw new InstallError(
      `${options.url}: the transfer ended after ${received} bytes (${error instanceof Error ? error.message : String(error)})`,
      "run the same command again: it goes on where it ended",
    );
  } finally {
    await file.close();
  }
  if (total !== undefined && received < total)
    throw new InstallError(
      `${options.url}: only ${received} of ${total} bytes came`,
      "run the same command again: it goes on where it ended",
    );
}

/** A small text file such as a checksum. */
export async function fetchText(url: string, signal?: AbortSignal): Promise<string> {
  const response = await request(url, {}, signal);
  if (!response.ok) throw notThere(url, response.status);
  return await response.text();
}

async function request(
  url: string,
  headers: Record<string, string>,
  signal: AbortSignal | undefined,
): Promise<Response> {
  try {
    return await fetch(url, { headers, redirect: "follow", ...(signal === undefined ? {} : { signal }) });
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause.message : String(error);
    throw new InstallError(
      `cannot reach ${url}: ${cause}`,
      "check the network, or name a mirror with --mirror, or take local files with --from DIR",
    );
  }
}

function notThere(url: string, status: number): InstallError {
  return status === 404
    ? new InstallError(`${url} does not exist (404)`, "check the version: capstan kubernetes install v1.34.4")
    : new InstallError(`${url} answered ${status}`, "try again later, or use another --mirror");
}

export async function sha256Of(file: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(file), hash);
  return hash.digest("hex");
}
