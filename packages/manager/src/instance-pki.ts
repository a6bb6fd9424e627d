import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Clock, Random } from "@capstan/apimachinery";
import { writeFileAtomic } from "@capstan/os";
import {
  BACKDATE_MS,
  type CertificateAndKey,
  createCertificateAuthority,
  createServiceAccountKey,
  issueCertificate,
  parseCertificate,
} from "@capstan/pki";

const DAY_MS = 24 * 3600_000;
const CA_LIFE_MS = 3650 * DAY_MS;
const LEAF_LIFE_MS = 365 * DAY_MS;

/** Keys and certificates of a standalone instance, created at its first start and stored in `pki/` of its data directory. */
export interface InstancePki {
  ca: CertificateAndKey;
  serving: CertificateAndKey;
  admin: CertificateAndKey;
  serviceAccountKeyPem: string;
}

interface Deps {
  clock: Clock;
  random: Random;
}

/** Reads the keys and creates missing ones; leaf certificates are renewed when a third of their lifetime is left. */
export async function ensureInstancePki(dataDir: string, hosts: string[], deps: Deps): Promise<InstancePki> {
  const dir = join(dataDir, "pki");
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const ca = await ensurePair(
    dir,
    "ca",
    () => true,
    () =>
      createCertificateAuthority({
        commonName: "capstan",
        notBeforeMs: deps.clock.now() - BACKDATE_MS,
        validMs: CA_LIFE_MS,
        random: deps.random,
      }),
  );
  const names = ["localhost", "127.0.0.1", "::1", ...hosts];
  const isAddress = (name: string): boolean => /^[\d.]+$/.test(name) || name.includes(":");
  const wanted = {
    dnsNames: names.filter((name) => !isAddress(name)),
    ipAddresses: [...new Set(names.filter(isAddress))],
  };
  const fresh = (pair: CertificateAndKey): boolean => {
    const { notBeforeMs, notAfterMs } = parseCertificate(pair.certPem);
    return deps.clock.now() < notAfterMs - (notAfterMs - notBeforeMs) / 3;
  };
  const serving = await ensurePair(
    dir,
    `serving-${hosts.join("_").replaceAll(/[^A-Za-z0-9._-]/g, "_") || "local"}`,
    fresh,
    () =>
      issueCertificate(ca, {
        commonName: "capstan",
        ...wanted,
        usages: ["server"],
        nowMs: deps.clock.now(),
        validMs: LEAF_LIFE_MS,
        random: deps.random,
      }),
  );
  const admin = await ensurePair(dir, "admin", fresh, () =>
    issueCertificate(ca, {
      commonName: "capstan-admin",
      organizations: ["system:masters"],
      usages: ["client"],
      nowMs: deps.clock.now(),
      validMs: LEAF_LIFE_MS,
      random: deps.random,
    }),
  );
  const serviceAccountKeyPem = await ensureFile(
    join(dir, "service-account.key"),
    async () => (await createServiceAccountKey("ECDSA-P256")).privateKeyPem,
  );
  return { ca, serving, admin, serviceAccountKeyPem };
}

async function ensurePair(
  dir: string,
  name: string,
  good: (pair: CertificateAndKey) => boolean,
  make: () => Promise<CertificateAndKey>,
): Promise<CertificateAndKey> {
  const path = join(dir, `${name}.json`);
  const existing = await readIfThere(path);
  if (existing !== undefined) {
    const pair = JSON.parse(existing) as CertificateAndKey;
    if (good(pair)) return pair;
  }
  const made = await make();
  await writeFileAtomic(path, JSON.stringify(made));
  return made;
}

async function ensureFile(path: string, make: () => Promise<string>): Promise<string> {
  const existing = await readIfThere(path);
  if (existing !== undefined) return existing;
  const made = await make();
  await writeFileAtomic(path, made);
  return made;
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
