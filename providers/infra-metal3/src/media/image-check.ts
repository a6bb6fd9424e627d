import { createHash } from "node:crypto";
import type { Clock } from "@capstan/apimachinery";
import type { BareMetalHostSpec } from "../kinds/bare-metal-host-spec.ts";
import { failure, finished, type StepResult, working } from "../provisioner/provisioner.ts";

type Image = NonNullable<BareMetalHostSpec["image"]>;

/** Gives the body of an address in pieces; throws when it is not to be had. */
export type Download = (url: string, signal: AbortSignal) => Promise<AsyncIterable<Uint8Array>>;

const KEEP_MS = 10 * 60_000;
const ASK_AGAIN_MS = 2_000;
const MAX_CHECKSUM_FILE = 1024 * 1024;

interface Check {
  result: StepResult | undefined;
  atMs: number;
  askedMs: number;
}

/** Checks that images are what their checksums say: each once for all hosts, in the background. */
export class ImageChecks {
  readonly #download: Download;
  readonly #clock: Clock;
  readonly #checks = new Map<string, Check>();

  constructor(download: Download, clock: Clock) {
    this.#download = download;
    this.#clock = clock;
  }

  /** done: it is, or no checksum was given. The signal ends the download when the manager stops. */
  check(image: Image, signal: AbortSignal): StepResult {
    if (image.checksum === undefined || image.checksum === "") return finished();
    const key = JSON.stringify([image.url, image.checksum, image.checksumType]);
    const now = this.#clock.monotonic();
    const known = this.#checks.get(key);
    if (known !== undefined) known.askedMs = now;
    const stale = known?.result !== undefined && now - known.atMs > KEEP_MS;
    // What could not be downloaded is tried again by the next who asks after its own back-off.
    const retry = known?.result?.type === "failed" && known.result.fatal !== true && now - known.atMs > ASK_AGAIN_MS;
    if (known !== undefined && !stale && !retry)
      return known.result ?? working(`The checksum of ${image.url} is being checked`, ASK_AGAIN_MS);
    const check: Check = { result: undefined, atMs: now, askedMs: now };
    this.#prune(now);
    this.#checks.set(key, check);
    void this.#run(image, check, signal).then((result) => {
      check.result = result;
      check.atMs = this.#clock.monotonic();
    });
    return working(`The checksum of ${image.url} is being checked`, ASK_AGAIN_MS);
  }

  /** Each change of an address makes another entry. */
  #prune(nowMs: number): void {
    for (const [key, { result, askedMs }] of this.#checks)
      if (result !== undefined && nowMs - askedMs > KEEP_MS) this.#checks.delete(key);
  }

  async #run(image: Image, check: Check, signal: AbortSignal): Promise<StepResult> {
    try {
      const { text, shown } = await this.#digestOf(image, signal);
      const wanted = text.toLowerCase();
      const algorithm = algorithmOf(image.checksumType, wanted);
      if (algorithm === undefined)
        return failure(`spec.image.checksum: ${shown} is no md5, sha256 or sha512 digest`, { fatal: true });
      const hash = createHash(algorithm);
      for await (const chunk of await this.#download(image.url, signal)) {
        hash.update(chunk);
        // The host was deleted, or wants another image.
        if (this.#clock.monotonic() - check.askedMs > KEEP_MS) throw new Error("no host asks for it any more");
      }
      const found = hash.digest("hex");
      if (found === wanted) return finished();
      return failure(
        `The image ${image.url} has the ${algorithm} digest ${found}, but spec.image.checksum says ${shown}: correct the checksum, or the image is damaged`,
        { fatal: true },
      );
    } catch (error) {
      return failure(
        `The image ${image.url} could not be checked: ${error instanceof Error ? error.message : String(error)}`,
      );
    }
  }

  /**
   * The digest itself, or the line of a checksum file that names the image; and how errors name it. What a server sent is not repeated:
   * whoever chose its address would read it.
   */
  async #digestOf(image: Image, signal: AbortSignal): Promise<{ text: string; shown: string }> {
    const checksum = (image.checksum ?? "").trim();
    if (!/^https?:\/\//i.test(checksum)) return { text: checksum, shown: JSON.stringify(checksum.slice(0, 140)) };
    const parts: Uint8Array[] = [];
    let size = 0;
    for await (const chunk of await this.#download(checksum, signal)) {
      size += chunk.length;
      if (size > MAX_CHECKSUM_FILE) throw new Error(`${checksum} is no file of checksums: it is larger than 1 MiB`);
      parts.push(chunk);
    }
    const text = digestIn(Buffer.concat(parts).toString("utf8"), image.url, checksum);
    return { text, shown: `what ${checksum} says` };
  }
}

/** Finds an image's digest in a file of checksums, in the formats of `sha256sum` and of BSD. */
export function digestIn(text: string, imageUrl: string, where: string): string {
  const name = new URL(imageUrl).pathname.split("/").pop() ?? "";
  const lines = text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("#"));
  if (lines.length === 1 && /^[0-9a-f]+$/i.test(lines[0] ?? "")) return lines[0] ?? "";
  for (const line of lines) {
    const gnu = /^([0-9a-f]{32,128}) [ *]?(.+)$/i.exec(line);
    if (gnu?.[2]?.trim().split("/").pop() === name) return gnu[1] ?? "";
    const bsd = /^[A-Z0-9]+ ?\((.+)\) ?= ?([0-9a-f]{32,128})$/i.exec(line);
    if (bsd?.[1]?.split("/").pop() === name) return bsd[2] ?? "";
  }
  throw new Error(`${where} has no line for ${name}`);
}

function algorithmOf(type: string | undefined, digest: string): "md5" | "sha256" | "sha512" | undefined {
  if (!/^[0-9a-f]+$/.test(digest)) return undefined;
  const byLength = ({ 32: "md5", 64: "sha256", 128: "sha512" } as const)[digest.length];
  if (type === undefined || type === "" || type === "auto") return byLength;
  return type === byLength ? byLength : undefined;
}
