import type { CertificateAndKey } from "@capstan/pki";

/** The authorities of one control plane, from the Secrets that Cluster API users know. */
export interface Authorities {
  cluster: CertificateAndKey;
  etcd: CertificateAndKey;
  frontProxy: CertificateAndKey;
  serviceAccount: { publicKeyPem: string; privateKeyPem: string };
  /** During a rotation: what is trusted beside the above, as PEM. */
  also?: Partial<Record<AuthorityKey, string>>;
  /** During a rotation: what certificates of nodes are signed with already, so that each node is visited once. */
  nodeSigner?: CertificateAndKey;
}

/** The authorities by their names in `Authorities`. */
export type AuthorityKey = "cluster" | "etcd" | "frontProxy" | "serviceAccount";

/**
 * All that is trusted of an authority: one certificate (or public key), and a second one during a rotation. The order does not depend on
 * which of them signs, so that the step from one to the other changes no file that a component reads only when it starts.
 */
export function trusted(authorities: Authorities, key: AuthorityKey): string {
  const own = key === "serviceAccount" ? authorities.serviceAccount.publicKeyPem : authorities[key].certPem;
  const also = authorities.also?.[key];
  if (also === undefined) return own;
  return [own, also]
    .map((pem) => `${pem.trim()}\n`)
    .toSorted()
    .join("");
}
