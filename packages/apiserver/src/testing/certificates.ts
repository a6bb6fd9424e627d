import { seededRandom } from "@capstan/apimachinery";
import { type CertificateAndKey, createCertificateAuthority, issueCertificate } from "@capstan/pki";

/** Certificates for a server on 127.0.0.1 and its clients. Real time, because TLS itself looks at the clock. */
export interface TestCertificates {
  readonly ca: CertificateAndKey;
  readonly server: CertificateAndKey;
  client(commonName: string, organizations?: string[]): Promise<CertificateAndKey>;
}

const DAY_MS = 86_400_000;

/** Makes them. */
export async function testCertificates(nowMs: number): Promise<TestCertificates> {
  const random = seededRandom(11);
  const ca = await createCertificateAuthority({
    commonName: "test",
    notBeforeMs: nowMs - DAY_MS,
    validMs: 10 * DAY_MS,
    random,
  });
  const common = { nowMs, validMs: DAY_MS, random };
  const server = await issueCertificate(ca, {
    ...common,
    commonName: "server",
    ipAddresses: ["127.0.0.1"],
    dnsNames: ["localhost"],
    usages: ["server"],
  });
  return {
    ca,
    server,
    client: (commonName, organizations = []) =>
      issueCertificate(ca, { ...common, commonName, organizations, usages: ["client"] }),
  };
}
