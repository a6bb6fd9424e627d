import { createHash } from "node:crypto";
import { type Clock, type UserInfo, unauthorized } from "@capstan/apimachinery";
import { PkiError, parseCertificateDer } from "@capstan/pki";
import { CREDENTIAL_ID } from "./users.ts";

interface Known {
  readonly user: UserInfo | undefined;
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
}

/** Reads users from client certificates that TLS has verified: CN is the name, each O a group. Remembers per connection. */
export function clientCertificates(clock: Clock): (der: Uint8Array) => UserInfo | undefined {
  // Connections hand in the same bytes for every request; identical certificates on other connections are parsed once more.
  const known = new WeakMap<Uint8Array, Known>();
  return (der) => {
    let entry = known.get(der);
    if (entry === undefined) {
      entry = read(der);
      known.set(der, entry);
    }
    const now = clock.now();
    if (now < entry.notBeforeMs || now > entry.notAfterMs) throw unauthorized();
    return entry.user;
  };
}

function read(der: Uint8Array): Known {
  try {
    const parsed = parseCertificateDer(der);
    if (parsed.extendedKeyUsage && !parsed.usages.includes("client")) throw unauthorized();
    const { commonName, organizations } = parsed.subject;
    const fingerprint = createHash("sha256").update(der).digest("hex");
    const user =
      commonName === ""
        ? undefined
        : { name: commonName, groups: [...organizations], extra: { [CREDENTIAL_ID]: [`X509SHA256=${fingerprint}`] } };
    return { user, notBeforeMs: parsed.notBeforeMs, notAfterMs: parsed.notAfterMs };
  } catch (error) {
    if (error instanceof PkiError) throw unauthorized();
    throw error;
  }
}
