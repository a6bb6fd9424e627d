import type { CertificateAndKey } from "@capstan/pki";

/** The CAs and the service account key of one control plane, from the Secrets that Cluster API defines. */
export interface Authorities {
  cluster: CertificateAndKey;
  etcd: CertificateAndKey;
  frontProxy: CertificateAndKey;
  serviceAccount: { publicKeyPem: string; privateKeyPem: string };
  /** During a rotation: what is trusted in addition, as PEM. */
  also?: Partial<Record<AuthorityKey, string>>;
  /** During a rotation: what certificates of nodes are signed with already, so that each node is visited once. */
  nodeSigner?: CertificateAndKey;
}

/** Names a CA or key by its field in `Authorities`. */
export type AuthorityKey = "cluster" | "etcd" | "frontProxy" | "serviceAccount";

/**
 * Returns the trust bundle of a CA: one certificate (or public key), and a second one during a rotation. Its order does not depend on which
 * one signs, so that switching the signer changes no file that components read only at startup.
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
