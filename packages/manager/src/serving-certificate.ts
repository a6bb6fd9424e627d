import type { Clock, Random } from "@capstan/apimachinery";
import { type CertificateAndKey, createCertificateAuthority, issueCertificate } from "@capstan/pki";
import type { Metrics } from "@capstan/runtime";

const DAY_MS = 24 * 3_600_000;
const AUTHORITY_VALID_MS = 3650 * DAY_MS;
const LEAF_VALID_MS = 365 * DAY_MS;
/** Often enough, and less than what a timer can wait. */
const RENEW_MS = 20 * DAY_MS;
/** Clocks of those who call may be behind. */
const SKEW_MS = 3_600_000;

interface Deps {
  readonly clock: Clock;
  readonly random: Random;
}

/** Creates a CA for the certificates of the manager's own endpoints. */
export async function createServingAuthority(commonName: string, { clock, random }: Deps): Promise<CertificateAndKey> {
  return await createCertificateAuthority({
    commonName,
    notBeforeMs: clock.now() - SKEW_MS,
    validMs: AUTHORITY_VALID_MS,
    random,
  });
}

/** Issues a serving certificate for these names and addresses. */
export async function issueServing(
  ca: CertificateAndKey,
  commonName: string,
  names: readonly string[],
  { clock, random }: Deps,
): Promise<CertificateAndKey> {
  const all = [...new Set([...names, "localhost"])];
  return await issueCertificate(ca, {
    commonName,
    dnsNames: all.filter((name) => !isAddress(name)),
    ipAddresses: all.filter(isAddress),
    usages: ["server"],
    nowMs: clock.now(),
    validMs: LEAF_VALID_MS,
    random,
  });
}

/** Renews a serving certificate every 20 days, long before it expires. Returns a function that stops the renewal. */
export function keepRenewed(
  issue: () => Promise<CertificateAndKey>,
  use: (next: CertificateAndKey) => void,
  deps: { clock: Clock; metrics?: Pick<Metrics, "certificate"> | undefined },
) {
  const { clock, metrics } = deps;
  // The first one is in use already.
  metrics?.certificate(true);
  let cancel = (): void => undefined;
  const arm = (): void => {
    cancel = clock.after(RENEW_MS, () => {
      // What cannot be renewed now can be the next time: the certificate is good for many more.
      void issue()
        .then(use)
        .then(
          () => metrics?.certificate(true),
          () => metrics?.certificate(false),
        );
      arm();
    });
  };
  arm();
  return (): void => cancel();
}

function isAddress(name: string): boolean {
  return name.includes(":") || /^\d+(\.\d+){3}$/.test(name);
}
