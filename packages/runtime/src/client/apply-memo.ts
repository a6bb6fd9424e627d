import { createHash } from "node:crypto";
import type { Clock, KubeObject } from "@capstan/apimachinery";
import { applyCovers } from "./apply-covers.ts";

const KEEP_MS = 10 * 60_000;
const SWEEP_ABOVE = 5000;

interface Remembered {
  digest: string;
  resourceVersion: string;
  at: number;
}

/**
 * Remembers what was last applied to each object, so that an apply that would change nothing can be skipped: the object is at the same
 * revision (as in Cluster API's ssa.Cache), or others changed it but not the applied fields. It keeps only digests, because objects may
 * hold secrets.
 */
export class ApplyMemo {
  readonly #clock: Clock;
  readonly #entries = new Map<string, Remembered>();
  #sweepAbove = SWEEP_ABOVE;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Stands for one desired state. The same code builds it each time, so its keys come in the same order; if not, it is applied once more. */
  digest(desired: KubeObject): string {
    return createHash("sha256").update(JSON.stringify(desired)).digest("base64");
  }

  /** Whether applying this to `live` again would change nothing. */
  isCurrent(desired: KubeObject, live: KubeObject, digest: string, subresource = ""): boolean {
    const { uid, resourceVersion } = live.metadata;
    const entry = this.#entries.get(`${uid}/${subresource}`);
    // Something else applied in between may have left fields that this state does not have and that have to go.
    if (entry?.digest !== digest || resourceVersion === undefined) return false;
    entry.at = this.#clock.monotonic();
    if (entry.resourceVersion === resourceVersion) return true;
    if (!applyCovers(live, desired)) return false;
    entry.resourceVersion = resourceVersion;
    return true;
  }

  /** Notes the outcome of an apply; without a digest, that something unknown was applied. */
  remember(applied: KubeObject, digest: string | undefined, subresource = ""): void {
    const { uid, resourceVersion } = applied.metadata;
    if (uid === undefined || resourceVersion === undefined) return;
    const key = `${uid}/${subresource}`;
    if (digest === undefined) {
      this.#entries.delete(key);
      return;
    }
    this.#entries.set(key, { digest, resourceVersion, at: this.#clock.monotonic() });
    if (this.#entries.size > this.#sweepAbove) this.#sweep();
  }

  /** Entries unused for ten minutes belong to objects that are deleted or idle; dropping one costs an extra apply at most. */
  #sweep(): void {
    const oldest = this.#clock.monotonic() - KEEP_MS;
    for (const [key, entry] of this.#entries) if (entry.at < oldest) this.#entries.delete(key);
    // Doubling keeps the cost of sweeping in proportion when all entries are in use.
    this.#sweepAbove = Math.max(SWEEP_ABOVE, 2 * this.#entries.size);
  }
}
