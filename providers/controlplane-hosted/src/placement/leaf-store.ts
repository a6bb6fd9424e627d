import { createHash } from "node:crypto";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Clock, Random } from "@capstan/apimachinery";
import { type CertificateAndKey, type KeyAlgorithm, parseCertificate } from "@capstan/pki";
import { type Authorities, type CertificateSpec, issue } from "../certificates.ts";

interface StoredLeaf extends CertificateAndKey {
  /** What it was made from: another description or another CA means another certificate. */
  fingerprint: string;
}

/**
 * Leaf certificates of one control plane, kept in a file so that a restart does not change them, and renewed when less than a third of
 * their life is left.
 */
export class LeafStore {
  private readonly path: string;
  private readonly clock: Clock;
  private readonly random: Random;
  private leaves: Record<string, StoredLeaf> | undefined;

  constructor(dir: string, clock: Clock, random: Random) {
    this.path = join(dir, "certificates.json");
    this.clock = clock;
    this.random = random;
  }

  /** The certificates for `specs`, by name. */
  async ensure(
    specs: CertificateSpec[],
    authorities: Authorities,
    algorithm: KeyAlgorithm,
  ): Promise<Record<string, CertificateAndKey>> {
    const stored = await this.load();
    const next: Record<string, StoredLeaf> = {};
    let changed = false;
    for (const spec of specs) {
      const fingerprint = fingerprintOf(spec, authorities[spec.issuer].certPem, algorithm);
      const old = stored[spec.name];
      if (old !== undefined && old.fingerprint === fingerprint && !this.isDue(old)) {
        next[spec.name] = old;
        continue;
      }
      const made = await issue(spec, authorities, { nowMs: this.clock.now(), random: this.random, algorithm });
      next[spec.name] = { ...made, fingerprint };
      changed = true;
    }
    if (changed) await this.save(next);
    this.leaves = next;
    return next;
  }

  /** When the first certificate becomes due for renewal. */
  renewalMs(): number {
    return Math.min(...Object.values(this.leaves ?? {}).map((leaf) => dueMs(leaf)));
  }

  private isDue(leaf: CertificateAndKey): boolean {
    return this.clock.now() >= dueMs(leaf);
  }

  private async load(): Promise<Record<string, StoredLeaf>> {
    if (this.leaves !== undefined) return this.leaves;
    try {
      return JSON.parse(await readFile(this.path, "utf8")) as Record<string, StoredLeaf>;
    } catch {
      return {};
    }
  }

  private async save(leaves: Record<string, StoredLeaf>): Promise<void> {
    await mkdir(dirname(this.path), { recursive: true, mode: 0o700 });
    await writeFile(`${this.path}.new`, JSON.stringify(leaves), { mode: 0o600 });
    await rename(`${this.path}.new`, this.path);
  }
}

function dueMs(leaf: CertificateAndKey): number {
  const { notBeforeMs, notAfterMs } = parseCertificate(leaf.certPem);
  return notAfterMs - (notAfterMs - notBeforeMs) / 3;
}

function fingerprintOf(spec: CertificateSpec, caPem: string, algorithm: string): string {
  return createHash("sha256")
    .update(JSON.stringify([spec, caPem, algorithm]))
    .digest("hex");
}
