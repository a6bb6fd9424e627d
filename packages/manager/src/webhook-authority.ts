import { type Clock, type Random } from "@capstan/apimachinery";
import { Secret } from "@capstan/capi";
import { type CertificateAndKey, parseCertificate } from "@capstan/pki";
import { type Client, createIfAbsent } from "@capstan/runtime";
import { createServingAuthority } from "./serving-certificate.ts";

/** Name of the Secret that holds the CA of the webhooks. */
export const WEBHOOK_AUTHORITY = "capstan-webhooks-ca";

/**
 * Returns the CA that all managers of a management cluster share, creating its Secret if needed: whichever manager a Service routes to, its
 * certificate matches the `caBundle` of the CustomResourceDefinitions.
 */
export async function sharedAuthority(
  client: Client,
  namespace: string,
  deps: { clock: Clock; random: Random },
): Promise<CertificateAndKey> {
  const key = { namespace, name: WEBHOOK_AUTHORITY };
  const existing = authorityOf(await client.get(Secret, key), deps.clock.now());
  if (existing !== undefined) return existing;
  const made = await createServingAuthority("capstan-webhooks", deps);
  const object: Secret = {
    apiVersion: "v1",
    kind: "Secret",
    metadata: key,
    type: "kubernetes.io/tls",
    data: { "tls.crt": encode(made.certPem), "tls.key": encode(made.keyPem) },
  };
  if (await createIfAbsent(client, object)) return made;
  // Another manager was faster, or what is there is of no use any more.
  const theirs = authorityOf(await client.get(Secret, key), deps.clock.now());
  if (theirs !== undefined) return theirs;
  await client.patch({ kind: Secret, ...key }, { data: object.data ?? {} });
  return made;
}

function authorityOf(secret: Secret | undefined, now: number): CertificateAndKey | undefined {
  const data = secret?.data;
  const [certPem, keyPem] = [data?.["tls.crt"], data?.["tls.key"]].map((text) =>
    Buffer.from(text ?? "", "base64").toString("utf8"),
  );
  if (certPem === undefined || keyPem === undefined || keyPem === "") return undefined;
  try {
    return parseCertificate(certPem).notAfterMs > now ? { certPem, keyPem } : undefined;
  } catch {
    return undefined;
  }
}

function encode(text: string): string {
  return Buffer.from(text).toString("base64");
}
