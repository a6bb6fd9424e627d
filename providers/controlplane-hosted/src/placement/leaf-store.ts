import { createHash } from "node:crypto";
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Clock, Random } from "@capstan/apimachinery";
import type { Authorities } from "@capstan/controlplane";
import { writeFileAtomic } from "@capstan/os";
import { type CertificateAndKey, type KeyAlgorithm, parseCertificate } from "@capstan/pki";
import { type CertificateSpec, issue } from "../certificates.ts";

/** Persistent storage of certificates: a file for processes, a Secret for pods. */
export interface LeafStorage {
  /** Returns what was saved last; undefined if nothing was. */
  load(): Promise<string | undefined>;
  save(text: string): Promise<void>;
}

interface StoredLeaf extends CertificateAndKey {
  /** Digest of its inputs: another specification or another CA requires another certificate. */
  fingerprint: string;
}

/**
 * Stores the leaf certificates of a control plane, so that they survive a restart of the manager, and renews them when less than a third of
 * their lifetime is left.
 */
export class LeafStore {
  readonly #storage: LeafStorage;
  readonly #clock: Clock;
  readonly #random: Random;
  #leaves: Record<string, StoredLeaf> | undefined;

  constructor(storage: LeafStorage, clock: Clock, random: Random) {
    this.#storage = storage;
    this.#clock = clock;
    this.#random = random;
  }

  /** The certificates for `specs`, by name. */
  async ensure(
    specs: CertificateSpec[],
    authorities: Authorities,
    algorithm: KeyAlgorithm,
  ): Promise<Record<string, CertificateAndKey>> {
    const stored = await this.#load();
    const next: Record<string, StoredLeaf> = {};
    let changed = false;
    // Keys are generated off the event loop, so all are generated concurrently.
    await Promise.all(
      specs.map(async (spec) => {
        const fingerprint = fingerprintOf(spec, authorities[spec.issuer].certPem, algorithm);
        const old = stored[spec.name];
        if (old !== undefined && old.fingerprint === fingerprint && !this.#isDue(old)) {
          next[spec.name] = old;
          return;
        }
        const made = await issue(spec, authorities, { nowMs: this.#clock.now(), random: this.#random, algorithm });
        next[spec.name] = { ...made, fingerprint };
        changed = true;
      }),
    );
    if (changed) await this.#storage.save(JSON.stringify(next));
    this.#leaves = next;
    return next;
  }

  /** When the first certificate becomes due for renewal. */
  renewalMs(): number {
    return Math.min(...Object.values(this.#leaves ?? {}).map((leaf) => dueMs(leaf)));
  }

  #isDue(leaf: CertificateAndKey): boolean {
    // A certificate that is not valid yet was issued while the clock was ahead: no client would accept it now.
    return this.#clock.now() >= dueMs(leaf) || this.#clock.now() < timesOf(leaf).notBeforeMs;
  }

  async #load(): Promise<Record<string, StoredLeaf>> {
    if (this.#leaves !== undefined) return this.#leaves;
    try {
      return JSON.parse((await this.#storage.load()) ?? "{}") as Record<string, StoredLeaf>;
    } catch {
      return {};
    }
  }
}

/** Returns storage of certificates in a file of a control plane's folder. */
export function leafFile(dir: string): LeafStorage {
  const path = join(dir, "certificates.json");
  return {
    load: () => readFile(path, "utf8").catch(() => undefined),
    save: async (text) => {
      await mkdir(dir, { recursive: true, mode: 0o700 });
      await writeFileAtomic(path, text);
    },
  };
}

/** Read once per certificate: they are checked often and rarely change. */
const knownTimes = new WeakMap<CertificateAndKey, { notBeforeMs: number; notAfterMs: number }>();

function timesOf(leaf: CertificateAndKey): { notBeforeMs: number; notAfterMs: number } {
  const times = knownTimes.get(leaf) ?? parseCertificate(leaf.certPem);
  knownTimes.set(leaf, times);
  return times;
}

function dueMs(leaf: CertificateAndKey): number {
  const { notBeforeMs, notAfterMs } = timesOf(leaf);
  return notAfterMs - (notAfterMs - notBeforeMs) / 3;
}

function fingerprintOf(spec: CertificateSpec, caPem: string, algorithm: string): string {
  return createHash("sha256")
    .update(JSON.stringify([spec, caPem, algorithm]))
    .digest("hex");
}
