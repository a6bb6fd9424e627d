import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdir, open, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { pipeline } from "node:stream/promises";
import { readText } from "@capstan/apimachinery/foreign";
import { syncDirectory } from "@capstan/os";
import type { Dispatcher } from "undici";
import { DownloadError } from "./download-error.ts";
import { type Fetcher, giveUp, withoutCredentials } from "./fetcher.ts";

type Answer = Dispatcher.ResponseData;

/** What to download, and where to store it. */
export interface FileDownload {
  fetcher: Fetcher;
  url: string;
  file: string;
  sha256: string;
  onProgress?: (received: number, total: number | undefined) => void;
}

/**
 * Downloads a file with a known checksum. An interrupted transfer resumes, or starts over when the file has changed meanwhile. A file with
 * a wrong checksum never gets its final name.
 */
export async function downloadFile(options: FileDownload): Promise<void> {
  const { file, sha256 } = options;
  if ((await sizeOf(file)) !== undefined) {
    if ((await sha256Of(file)) === sha256) return;
    await rm(file, { force: true });
  }
  const part = `${file}.part`;
  await mkdir(dirname(file), { recursive: true });
  const have = (await sizeOf(part)) ?? 0;
  let actual = have > 0 && (await resume(options, part, have)) ? await sha256Of(part) : undefined;
  if (actual !== sha256) {
    await receive(await ask(options, {}), part, 0, options);
    actual = await sha256Of(part);
  }
  if (actual !== sha256) {
    await rm(part, { force: true });
    throw new DownloadError(
      "checksum",
      `${withoutCredentials(options.url)}: checksum ${actual} is not the expected ${sha256}`,
    );
  }
  await rename(part, file);
  await syncDirectory(dirname(file));
}

/** Fetches the missing part; false when the server does not resume where the transfer stopped. */
async function resume(options: FileDownload, part: string, have: number): Promise<boolean> {
  const response = await ask(options, { range: `bytes=${have}-` });
  if (response.statusCode !== 206) {
    giveUp(response);
    // All of it may be here already.
    return response.statusCode === 416;
  }
  await receive(response, part, have, options);
  return true;
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
  let received = start;
  // Written chunk by chunk, so that all that came before a cut is on disk for the next try.
  const file = await open(part, start > 0 ? "a" : "w");
  try {
    for await (const chunk of chunksOf(response, () => cut(options.url, received))) {
      await file.appendFile(chunk);
      received += chunk.length;
      options.onProgress?.(received, total);
    }
    // The name that says that it is whole must not outlive a power cut alone.
    await file.sync();
  } finally {
    await file.close();
  }
  if (total !== undefined && received < total)
    throw new DownloadError(
      "interrupted",
      `${withoutCredentials(options.url)}: only ${received} of ${total} bytes came`,
    );
}

/** Distinguishes network errors from disk errors. */
async function* chunksOf({ body }: Answer, message: () => string): AsyncGenerator<Uint8Array> {
  const chunks = (body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]();
  try {
    for (;;) {
      const { done, value } = await chunks.next().catch((error: unknown) => {
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
  return `${withoutCredentials(url)}: the transfer ended after ${received} bytes`;
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
  return (await stat(file).catch(() => undefined))?.size;
}

async function sha256Of(file: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(file), hash);
  return hash.digest("hex");
}
