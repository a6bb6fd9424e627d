import { createHash } from "node:crypto";
import { type Clock, type KubeObject, stableStringify } from "@capstan/apimachinery";

const KEEP_MS = 10 * 60_000;
const SWEEP_ABOVE = 5000;

interface Remembered {
  resourceVersion: string;
  at: number;
}

/**
 * Remembers what was applied to which revision of an object. Applying the same again to the same revision changes nothing, so
 * the request can be left out; Cluster API's ssa.Cache does the same. Only a digest is kept, as objects may hold secrets.
 */
export class ApplyMemo {
  readonly #clock: Clock;
  readonly #entries = new Map<string, Remembered>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Stands for one desired state. */
  digest(desired: KubeObject, subresource = ""): string {
    return createHash("sha256").update(subresource).update("\n").update(stableStringify(desired)).digest("base64");
  }

  /** Whether `live` is the result of applying exactly this. */
  isCurrent(desired: KubeObject, live: KubeObject, digest: string): boolean {
    const entry = this.#entries.get(`${live.metadata.uid} ${digest}`);
    if (entry === undefined || entry.resourceVersion !== live.metadata.resourceVersion) return false;
    entry.at = this.#clock.monotonic();
    return desired.metadata.name === live.metadata.name;
  }

  /** Notes the outcome of an apply. */
  remember(applied: KubeObject, digest: string): void {
    const { uid, resourceVersion } = applied.metadata;
    if (uid === undefined || resourceVersion === undefined) return;
    if (this.#entries.size >= SWEEP_ABOVE) this.#sweep();
    this.#entries.set(`${uid} ${digest}`, { resourceVersion, at: this.#clock.monotonic() });
  }

  /** Entries nobody asked for in ten minutes belong to objects that are gone or at rest; a wasted apply is all they cost. */
  #sweep(): void {
    const oldest = this.#clock.monotonic() - KEEP_MS;
    for (const [key, entry] of this.#entries) if (entry.at < oldest) this.#entries.delete(key);
  }
}
