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
    const stale = known?.result !== undefined && now - known.atMs > KEEP_MS;
    // What could not be downloaded is tried again by the next who asks after its own back-off.
    const retry = known?.result?.type === "failed" && known.result.fatal !== true && now - known.atMs > ASK_AGAIN_MS;
    if (known !== undefined && !stale && !retry)
      return known.result ?? working(`The checksum of ${image.url} is being checked`, ASK_AGAIN_MS);
    const check: Check = { result: undefined, atMs: now };
    this.#checks.set(key, check);
    void this.#run(image, signal).then((result) => {
      check.result = result;
      check.atMs = this.#clock.monotonic();
    });
    return working(`The checksum of ${image.url} is being checked`, ASK_AGAIN_MS);
  }

  async #run(image: Image, signal: AbortSignal): Promise<StepResult> {
    try {
      const wanted = (
        await expectedDigest({ url: image.url, checksum: image.checksum ?? "" }, this.#download, signal)
      ).toLowerCase();
      const algorithm = digestAlgorithm(image.checksumType, wanted);
      if (algorithm === undefined)
        return failure(
          `spec.image.checksum: ${JSON.stringify(wanted.slice(0, 140))} is no md5, sha256 or sha512 digest`,
          { fatal: true },
        );
      const hash = createHash(algorithm);
      for await (const chunk of await this.#download(image.url, signal)) hash.update(chunk);
      const found = hash.digest("hex");
      if (found === wanted) return finished();
      return failure(
        `The image ${image.url} has the ${algorithm} digest ${found}, but spec.image.checksum says ${wanted}: correct the checksum, or the image is damaged`,
        { fatal: true },
      );
    } catch (error) {
      return failure(
        `The image ${image.url} could not be checked: ${error instanceof Error ? error.message : String(error)}`,
      );
    }
  }
}
