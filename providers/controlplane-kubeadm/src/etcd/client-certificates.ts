import type { Clock, Random } from "@capstan/apimachinery";
import { type ClusterKey, clusterSecretName, type Secret, type SecretPurpose, secretText } from "@capstan/capi";
import type { EtcdCredentials } from "@capstan/etcd";
import { issueCertificate } from "@capstan/pki";

/** A certificate opens etcd completely, so it is never valid for long and never leaves the process. */
const VALID_MS = 24 * 3600_000;
const RENEW_MS = VALID_MS / 2;

/** Dependencies of EtcdClientCertificates. */
export interface ClientCertificateDeps {
  /** Reads a Secret of a cluster in the management cluster. */
  readonly secret: (cluster: ClusterKey, purpose: SecretPurpose) => Promise<Secret | undefined>;
  readonly clock: Clock;
  readonly random: Random;
}

interface Issued {
  readonly ca: string;
  readonly credentials: EtcdCredentials;
  readonly renewAtMs: number;
}

/** Client certificates for the etcd of each cluster, signed by its etcd CA, kept in memory and renewed at half of their validity. */
export class EtcdClientCertificates {
  readonly #deps: ClientCertificateDeps;
  readonly #issued = new Map<string, Issued>();

  constructor(deps: ClientCertificateDeps) {
    this.#deps = deps;
  }

  /** What a client of a cluster's etcd shows and trusts. */
  async get(cluster: ClusterKey): Promise<EtcdCredentials> {
    const { clock, random } = this.#deps;
    const name = clusterSecretName(cluster.name, "etcd");
    const secret = await this.#deps.secret(cluster, "etcd");
    const ca = secretText(secret, "tls.crt");
    if (ca === undefined)
      throw new Error(`Secret ${name} with the CA of etcd is missing: restore it from a backup to reach etcd`);
    const key = secretText(secret, "tls.key");
    if (key === undefined) return await this.#given(cluster, ca);
    const id = `${cluster.namespace}/${cluster.name}`;
    const known = this.#issued.get(id);
    if (known !== undefined && known.ca === ca && clock.now() < known.renewAtMs) return known.credentials;
    const nowMs = clock.now();
    const leaf = await issueCertificate(
      { certPem: ca, keyPem: key },
      {
        commonName: "cluster-api.x-k8s.io",
        usages: ["client"],
        algorithm: "ECDSA-P256",
        nowMs,
        validMs: VALID_MS,
        random,
      },
    );
    const credentials = { ca, cert: leaf.certPem, key: leaf.keyPem };
    this.#issued.set(id, { ca, credentials, renewAtMs: nowMs + RENEW_MS });
    return credentials;
  }

  /** Drops what a cluster's certificate was. */
  forget({ namespace, name }: ClusterKey): void {
    this.#issued.delete(`${namespace}/${name}`);
  }

  /** An authority outside of the management cluster: its owner provides the certificate that kube-apiservers use. */
  async #given(cluster: ClusterKey, ca: string): Promise<EtcdCredentials> {
    const secret = await this.#deps.secret(cluster, "apiserver-etcd-client");
    const cert = secretText(secret, "tls.crt");
    const key = secretText(secret, "tls.key");
    if (cert !== undefined && key !== undefined) return { ca, cert, key };
    const name = clusterSecretName(cluster.name, "apiserver-etcd-client");
    throw new Error(
      `Secret ${clusterSecretName(cluster.name, "etcd")} has no tls.key, so no client certificate for etcd can be issued: provide one in the Secret ${name}`,
    );
  }
}
