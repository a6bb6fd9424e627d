import { createHash } from "node:crypto";
import type { OwnerReference } from "@capstan/apimachinery";
import {
  CLUSTER_NAME_LABEL,
  CLUSTER_SECRET_TYPE,
  type ClusterConfiguration,
  type ClusterKey,
  clusterSecretName,
  Secret,
  type SecretPurpose,
  secretText,
} from "@capstan/capi";
import { BACKDATE_MS, createCertificateAuthority, createServiceAccountKey, parseCertificates } from "@capstan/pki";
import { createIfAbsent, type ReconcileContext } from "@capstan/runtime";
import type { UserDataFile } from "@capstan/userdata";
import { Stopped } from "./progress.ts";

const DAY_MS = 24 * 3600_000;
const DEFAULT_VALIDITY_DAYS = 3650;

/** A certificate (or public key) and its private key, with the paths on the node that they are written to. */
export interface KeyPair {
  purpose: SecretPurpose;
  certFile: string;
  /** If absent, only the certificate is written to the node. */
  keyFile?: string;
  /** Provided by the user, never generated. */
  external: boolean;
  crt: string;
  key: string;
}

type Wanted = Omit<KeyPair, "crt" | "key">;

/** Returns the key pairs that a control plane node needs, in the order in which their files are written. */
export function wantedCertificates(config: ClusterConfiguration | undefined): Wanted[] {
  const dir = config?.certificatesDir ?? "/etc/kubernetes/pki";
  const pair = (purpose: SecretPurpose, certFile: string, keyFile: string): Wanted => ({
    purpose,
    certFile: `${dir}/${certFile}`,
    keyFile: `${dir}/${keyFile}`,
    external: false,
  });
  const external = config?.etcd?.external;
  return [
    pair("ca", "ca.crt", "ca.key"),
    external === undefined
      ? pair("etcd", "etcd/ca.crt", "etcd/ca.key")
      : { purpose: "etcd", certFile: external.caFile, external: true },
    pair("proxy", "front-proxy-ca.crt", "front-proxy-ca.key"),
    pair("sa", "sa.pub", "sa.key"),
    ...(external === undefined
      ? []
      : [
          {
            purpose: "apiserver-etcd-client" as const,
            certFile: external.certFile,
            keyFile: external.keyFile,
            external: true,
          },
        ]),
  ];
}

/** Returns the files that place key pairs where kubeadm expects them. */
export function certificateFiles(pairs: readonly KeyPair[]): UserDataFile[] {
  return pairs.flatMap(({ certFile, keyFile, crt, key }) => [
    { path: certFile, owner: "root:root", permissions: "0640", content: crt },
    ...(keyFile === undefined || key === ""
      ? []
      : [{ path: keyFile, owner: "root:root", permissions: "0600", content: key }]),
  ]);
}

/** The key pairs to look up for a cluster, and whether to generate those that are missing. */
export interface CertificatesRequest {
  cluster: ClusterKey;
  wanted: readonly Wanted[];
  /** Generates missing key pairs with this owner; without it, the reconcile stops at a missing one. */
  generate?: { owner: OwnerReference; config: ClusterConfiguration | undefined };
}

/** Reads key pairs from the cluster's Secrets and generates missing ones if the request says so. */
export async function lookupCertificates(request: CertificatesRequest, context: ReconcileContext): Promise<KeyPair[]> {
  return await Promise.all(
    request.wanted.map(async (wanted) => {
      const found = await readPair(request.cluster, wanted, context);
      if (found !== undefined) return found;
      const name = clusterSecretName(request.cluster.name, wanted.purpose);
      if (request.generate === undefined || wanted.external)
        return missing(`There is no Secret ${name}: ${cure(wanted)}`);
      return await generate(request.cluster, wanted, request.generate, context);
    }),
  );
}

/** Returns the CA certificate that joining nodes verify the API server with; the Secret does not need the CA's key. */
export async function clusterCa(cluster: ClusterKey, context: ReconcileContext): Promise<string> {
  const name = clusterSecretName(cluster.name, "ca");
  const crt = secretText(await readSecret(cluster, "ca", context), "tls.crt");
  return crt ?? missing(`There is no Secret ${name} with a tls.crt: the control plane provider creates it`);
}

/** Returns the public key pins (`sha256:…`) of all certificates in a PEM bundle, as kubeadm's caCertHashes expects them. */
export function caPins(pem: string): string[] {
  try {
    return parseCertificates(pem).map(pinOf);
  } catch {
    return missing("tls.crt of the cluster CA is not a PEM-encoded certificate");
  }
}

function pinOf(certificate: { publicKeyInfo: Uint8Array }): string {
  return `sha256:${createHash("sha256").update(certificate.publicKeyInfo).digest("hex")}`;
}

function missing(message: string): never {
  throw new Stopped({ step: "no-certificates", message });
}

function cure(wanted: Wanted): string {
  return wanted.external ? "with external etcd you have to create it" : "the control plane provider creates it";
}

async function readSecret(
  cluster: ClusterKey,
  purpose: SecretPurpose,
  context: ReconcileContext,
): Promise<Secret | undefined> {
  const key = { namespace: cluster.namespace, name: clusterSecretName(cluster.name, purpose) };
  // The cache holds only labelled Secrets; one that a user brought may have no label.
  return context.cache.get(Secret, key) ?? (await context.client.get(Secret, key));
}

async function readPair(cluster: ClusterKey, wanted: Wanted, context: ReconcileContext): Promise<KeyPair | undefined> {
  const secret = await readSecret(cluster, wanted.purpose, context);
  if (secret === undefined) return undefined;
  const crt = secretText(secret, "tls.crt");
  const key = secretText(secret, "tls.key") ?? "";
  if (crt === undefined) return missing(`Secret ${secret.metadata.name} has no tls.crt`);
  if (key === "" && !wanted.external) return missing(`Secret ${secret.metadata.name} has no tls.key`);
  return { ...wanted, crt, key };
}

const COMMON_NAMES: Partial<Record<SecretPurpose, string>> = { etcd: "etcd-ca", proxy: "front-proxy-ca" };

async function generate(
  cluster: ClusterKey,
  wanted: Wanted,
  { owner, config }: NonNullable<CertificatesRequest["generate"]>,
  context: ReconcileContext,
): Promise<KeyPair> {
  const made = await material(wanted.purpose, config, context);
  const encode = (text: string): string => Buffer.from(text).toString("base64");
  const secret: Secret = {
    apiVersion: "v1",
    kind: "Secret",
    metadata: {
      namespace: cluster.namespace,
      name: clusterSecretName(cluster.name, wanted.purpose),
      labels: { [CLUSTER_NAME_LABEL]: cluster.name },
      ownerReferences: [owner],
    },
    type: CLUSTER_SECRET_TYPE,
    data: { "tls.crt": encode(made.crt), "tls.key": encode(made.key) },
  };
  if (await createIfAbsent(context.client, secret)) return { ...wanted, ...made };
  // Another controller was faster: its pair counts.
  const other = await readPair(cluster, wanted, context);
  return other ?? missing(`Secret ${secret.metadata.name} was deleted while it was read`);
}

async function material(
  purpose: SecretPurpose,
  config: ClusterConfiguration | undefined,
  context: ReconcileContext,
): Promise<{ crt: string; key: string }> {
  const algorithm = config?.encryptionAlgorithm ?? "RSA-2048";
  if (purpose === "sa") {
    const { publicKeyPem, privateKeyPem } = await createServiceAccountKey(algorithm);
    return { crt: publicKeyPem, key: privateKeyPem };
  }
  const made = await createCertificateAuthority({
    commonName: COMMON_NAMES[purpose] ?? "kubernetes",
    algorithm,
    notBeforeMs: context.clock.now() - BACKDATE_MS,
    validMs: (config?.caCertificateValidityPeriodDays ?? DEFAULT_VALIDITY_DAYS) * DAY_MS,
    random: context.random,
  });
  return { crt: made.certPem, key: made.keyPem };
}
