import { createHash } from "node:crypto";
import { constants, createReadStream } from "node:fs";
import { lstat, mkdir, open, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { pipeline } from "node:stream/promises";
import type { Clock } from "@capstan/apimachinery";
import { readText } from "@capstan/apimachinery/foreign";
import { syncDirectory } from "@capstan/os";
import type { Dispatcher } from "undici";
import { digestAlgorithm } from "./checksum.ts";
import { MAX_BYTES } from "./download.ts";
import { DownloadError } from "./download-error.ts";
import { type Fetcher, giveUp, withoutCredentials } from "./fetcher.ts";

type Answer = Dispatcher.ResponseData;

/** What to download, and where to store it. */
export interface FileDownload {
  fetcher: Fetcher;
  url: string;
  file: string;
  /** SHA-256 or SHA-512 of the file in hexadecimal digits. */
  digest: string;
  /** Largest size in bytes; 64 GiB unless set. */
  maxBytes?: number;
  /** How long the whole transfer may take; unlimited unless set, as long as it does not stall for a minute. */
  within?: { clock: Clock; ms: number };
  onProgress?: (received: number, total: number | undefined) => void;
}

/**
 * Downloads a file with a known checksum. An interrupted transfer resumes, or starts over when the file has changed meanwhile or the server
 * does not serve ranges. A file that is complete is not downloaded again, and one with a wrong checksum never gets its final name.
 */
export async function downloadFile(options: FileDownload): Promise<void> {
  const { file, digest } = options;
  const algorithm = digestAlgorithm(undefined, digest);
  if (algorithm === undefined || algorithm === "md5")
    throw new DownloadError(
      "checksum",
      `${withoutCredentials(options.url)}: the checksum is neither SHA-256 nor SHA-512`,
    );
  if ((await sizeOf(file)) !== undefined) {
    if ((await digestOf(file, algorithm)) === digest) return;
    await rm(file, { force: true });
  }
  const part = `${file}.part`;
  await mkdir(dirname(file), { recursive: true });
  const have = (await sizeOf(part)) ?? 0;
  let actual = have > 0 && (await resume(options, part, have)) ? await digestOf(part, algorithm) : undefined;
  if (actual !== digest) {
    await receive(await ask(options, {}), part, 0, options);
    actual = await digestOf(part, algorithm);
  }
  if (actual !== digest) {
    await discard(part);
    throw new DownloadError(
      "checksum",
      `${withoutCredentials(options.url)}: checksum ${actual} is not the expected ${digest}`,
    );
  }
  await rename(part, file);
  await rm(etagFile(part), { force: true });
  await syncDirectory(dirname(file));
}

/** Fetches the missing part; false when the server cannot resume where the transfer stopped. */
async function resume(options: FileDownload, part: string, have: number): Promise<boolean> {
  const etag = await readFile(etagFile(part), "utf8").catch(() => undefined);
  // A file that has changed is sent from its beginning, rather than a part that does not fit.
  const response = await ask(options, {
    range: `bytes=${have}-`,
    ...(etag === undefined ? {} : { "if-range": etag }),
  });
  if (response.statusCode === 206 && startOf(response) === have) await receive(response, part, have, options);
  else if (response.statusCode === 200) await receive(response, part, 0, options);
  else {
    giveUp(response);
    // The whole file may have arrived already.
    if (response.statusCode !== 416) return false;
  }
  return true;
}

/** Appends to a file, and never to what a link leads to: the folder may not be ours alone. */
const APPEND = constants.O_WRONLY | constants.O_APPEND | constants.O_NOFOLLOW;

/** Where the part of a file that a server sends begins. */
function startOf({ headers }: Answer): number {
  return Number(/^bytes (\d+)-/.exec(String(headers["content-range"]))?.[1]);
}

/** The version of a file whose transfer was interrupted, next to what has arrived of it. */
function etagFile(part: string): string {
  return `${part}.etag`;
}

/** Weak validators do not promise identical bytes: RFC 9110 forbids them in If-Range. */
async function keepEtag({ headers }: Answer, part: string): Promise<void> {
  const etag = headers["etag"];
  await rm(etagFile(part), { force: true });
  if (typeof etag === "string" && etag.startsWith('"')) await writeFile(etagFile(part), etag, { flag: "wx" });
}

async function discard(part: string): Promise<void> {
  await rm(part, { force: true });
  await rm(etagFile(part), { force: true });
}

async function ask(options: FileDownload, headers: Record<string, string>): Promise<Answer> {
  const response = await options.fetcher.get(options.url, headers);
  const { statusCode } = response;
  if (isOk(statusCode) || (statusCode === 416 && headers["range"] !== undefined)) return response;
  giveUp(response);
  throw notThere(options.url, statusCode);
}

const isOk = (status: number): boolean => status >= 200 && status < 300;

async function receive(response: Answer, part: string, start: number, options: FileDownload): Promise<void> {
  const length = response.headers["content-length"];
  const total = length === undefined ? undefined : start + Number(length);
  const limit = options.maxBytes ?? MAX_BYTES;
  let received = start;
  const checkSize = async (bytes: number): Promise<void> => {
    if (bytes <= limit) return;
    giveUp(response);
    await discard(part);
    throw new DownloadError("limit", `${withoutCredentials(options.url)} is larger than ${limit} bytes`);
  };
  await checkSize(total ?? 0);
  if (start === 0) {
    await rm(part, { force: true });
    await keepEtag(response, part);
  }
  // Written chunk by chunk, so that everything received before an interruption is on disk for the next attempt.
  const file = await open(part, start > 0 ? APPEND : "wx");
  const timely = timeLimit(response, options);
  try {
    for await (const chunk of chunksOf(response, () => cut(options.url, received))) {
      await checkSize(received + chunk.length);
      await file.appendFile(chunk);
      received += chunk.length;
      options.onProgress?.(received, total);
    }
    // The final name, which stands for a complete file, must not survive a power failure without the content.
    await file.sync();
  } finally {
    timely.end();
    await file.close();
  }
  if (total !== undefined && received < total)
    throw new DownloadError(
      "interrupted",
      `${withoutCredentials(options.url)}: received only ${received} of ${total} bytes`,
    );
}

/** Aborts a transfer that takes too long: one that sends a byte a minute never stalls. */
function timeLimit({ body }: Answer, { within, url }: FileDownload): { end(): void } {
  if (within === undefined) return { end: () => undefined };
  const { clock, ms } = within;
  const text = `${withoutCredentials(url)} was not complete within ${Math.ceil(ms / 1000)} s`;
  return { end: clock.after(ms, () => body.destroy(new DownloadError("limit", text))) };
}

/** Distinguishes network errors from disk errors. */
async function* chunksOf({ body }: Answer, message: () => string): AsyncGenerator<Uint8Array> {
  const chunks = (body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]();
  try {
    for (;;) {
      const { done, value } = await chunks.next().catch((error: unknown) => {
        if (error instanceof DownloadError) throw error;
        throw new DownloadError(
          "interrupted",
          `${message()} (${error instanceof Error ? error.message : String(error)})`,
        );
      });
      if (done === true) return;
      yield value;
    }
  } finally {
    await chunks.return?.();
  }
}

function cut(url: string, received: number): string {
  return `${withoutCredentials(url)}: the transfer was interrupted after ${received} bytes`;
}

const MAX_TEXT = 1024 * 1024;

/** Downloads a small text file such as a checksum. */
export async function fetchText(fetcher: Fetcher, url: string): Promise<string> {
  const response = await fetcher.get(url);
  if (isOk(response.statusCode)) return await readText(response.body, MAX_TEXT, withoutCredentials(url));
  giveUp(response);
  throw notThere(url, response.statusCode);
}

function notThere(url: string, status: number): DownloadError {
  return status === 404
    ? new DownloadError("missing", `${withoutCredentials(url)} does not exist (404)`)
    : new DownloadError("refused", `${withoutCredentials(url)} answered ${status}`);
}

async function sizeOf(file: string): Promise<number | undefined> {
  const found = await lstat(file).catch(() => undefined);
  return found?.isFile() === true ? found.size : undefined;
}

/** Returns the digest of a file in hexadecimal digits. */
export async function digestOf(file: string, algorithm: "sha256" | "sha512"): Promise<string> {
  const hash = createHash(algorithm);
  await pipeline(createReadStream(file), hash);
  return hash.digest("hex");
}
