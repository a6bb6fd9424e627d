import { mkdir, readFile } from "node:fs/promises";
import { isIP } from "node:net";
import { join } from "node:path";
import type { ProviderDeps } from "@capstan/capi";
import { writeFileAtomic } from "@capstan/os";
import { type CertificateAndKey, createCertificateAuthority, issueCertificate } from "@capstan/pki";

const DAY_MS = 24 * 3_600_000;

/** Issues the certificate of the media server. Its CA persists in `media/ca.crt`, so that management controllers can verify it. */
export async function mediaCertificate(
  { dataDir, clock, random }: Pick<ProviderDeps, "dataDir" | "clock" | "random">,
  host: string,
): Promise<CertificateAndKey> {
  const folder = join(dataDir, "media");
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const ca = (await read(folder)) ?? (await make(folder, clock.now(), random));
  return await issueCertificate(ca, {
    commonName: host,
    usages: ["server"],
    nowMs: clock.now(),
    validMs: 10 * 365 * DAY_MS,
    random,
    ...(isIP(host) === 0 ? { dnsNames: [host] } : { ipAddresses: [host] }),
  });
}

async function read(folder: string): Promise<CertificateAndKey | undefined> {
  try {
    const [certPem, keyPem] = await Promise.all(
      ["ca.crt", "ca.key"].map((name) => readFile(join(folder, name), "utf8")),
    );
    return certPem === undefined || keyPem === undefined ? undefined : { certPem, keyPem };
  } catch {
    return undefined;
  }
}

async function make(folder: string, nowMs: number, random: ProviderDeps["random"]): Promise<CertificateAndKey> {
  const validMs = 20 * 365 * DAY_MS;
  const ca = await createCertificateAuthority({ commonName: "capstan-media", notBeforeMs: nowMs, validMs, random });
  // The key first: a certificate without its key would be another authority next time.
  await writeFileAtomic(join(folder, "ca.key"), ca.keyPem);
  await writeFileAtomic(join(folder, "ca.crt"), ca.certPem);
  return ca;
}
