import { createHash } from "node:crypto";
import type { Clock } from "@capstan/apimachinery";
import { type Download, digestAlgorithm, expectedDigest } from "@capstan/media";
import type { BareMetalHostSpec } from "../kinds/bare-metal-host-spec.ts";
import { failure, finished, type StepResult, working } from "./provisioner.ts";

type Image = NonNullable<BareMetalHostSpec["image"]>;

const KEEP_MS = 10 * 60_000;
const ASK_AGAIN_MS = 2_000;

interface Check {
  result: StepResult | undefined;
  atMs: number;
  askedMs: number;
}

/** Verifies checksums of images in the background, once per image for all hosts. */
export class ImageChecks {
  readonly #download: Download;
  readonly #clock: Clock;
  readonly #checks = new Map<string, Check>();

  constructor(download: Download, clock: Clock) {
    this.#download = download;
    this.#clock = clock;
  }

  /** done: it is, or no checksum was given. The signal aborts the download when the manager stops. */
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
      const given = { url: image.url, checksum: image.checksum ?? "" };
      const { digest, shown } = await expectedDigest(given, this.#download, signal);
      const wanted = digest.toLowerCase();
      const algorithm = digestAlgorithm(image.checksumType, wanted);
      if (algorithm === undefined)
        return failure(`spec.image.checksum: ${shown} is not an md5, sha256 or sha512 digest`, { fatal: true });
      const hash = createHash(algorithm);
      for await (const chunk of await this.#download(image.url, signal)) {
        hash.update(chunk);
        // The host was deleted, or wants another image.
        if (this.#clock.monotonic() - check.askedMs > KEEP_MS) throw new Error("no host needs it any more");
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
}
