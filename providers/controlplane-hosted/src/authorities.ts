import { type Clock, isReason, type OwnerReference, type Random } from "@capstan/apimachinery";
import {
  CLUSTER_NAME_LABEL,
  CLUSTER_SECRET_TYPE,
  type ClusterKey,
  clusterSecretName,
  Secret,
  type SecretPurpose,
  secretText,
} from "@capstan/capi";
import {
  BACKDATE_MS,
  type CertificateAndKey,
  createCertificateAuthority,
  createServiceAccountKey,
  type KeyAlgorithm,
} from "@capstan/pki";
import type { ReconcileContext } from "@capstan/runtime";
import type { Authorities } from "./certificates.ts";

const TEN_YEARS_MS = 3650 * 24 * 3600_000;

interface Material {
  crt: string;
  key: string;
}

export interface AuthoritiesRequest {
  cluster: ClusterKey;
  owner: OwnerReference;
  algorithm: KeyAlgorithm;
  /** Once nodes trust a CA it is never made anew: a missing one is a problem for a person. */
  mayCreate: boolean;
  /** What to create them from instead of making new ones: the authorities of a restored backup. */
  known?: Authorities;
  /** The cluster's authority serves as all others, which are not made. */
  single?: boolean;
}

export type AuthoritiesResult = { authorities: Authorities } | { problem: string };

/** The CAs and the service account key from the Secrets Cluster API users know; existing ones are used, missing ones made. */
export async function ensureAuthorities(
  request: AuthoritiesRequest,
  context: ReconcileContext,
): Promise<AuthoritiesResult> {
  const { known, algorithm } = request;
  const ca = (commonName: string, restored: CertificateAndKey | undefined) => (): Promise<Material> =>
    restored === undefined
      ? createCa(commonName, algorithm, context)
      : Promise.resolve({ crt: restored.certPem, key: restored.keyPem });
  const restoredAccount = known?.serviceAccount;
  const serviceAccount = (): Promise<Material> =>
    restoredAccount === undefined
      ? createServiceAccount(algorithm)
      : Promise.resolve({ crt: restoredAccount.publicKeyPem, key: restoredAccount.privateKeyPem });
  const cluster = (): Promise<Material | { problem: string }> =>
    ensureSecret("ca", ca("kubernetes", known?.cluster), request, context);
  if (request.single === true) {
    const made = await cluster();
    return "problem" in made ? made : { authorities: singleAuthority(made) };
  }
  const results = await Promise.all([
    cluster(),
    ensureSecret("etcd", ca("etcd-ca", known?.etcd), request, context),
    ensureSecret("proxy", ca("front-proxy-ca", known?.frontProxy), request, context),
    ensureSecret("sa", serviceAccount, request, context),
  ]);
  const problem = results.find((result) => "problem" in result);
  if (problem !== undefined && "problem" in problem) return problem;
  const [root, etcd, proxy, account] = results as Material[];
  if (root === undefined || etcd === undefined || proxy === undefined || account === undefined)
    return { problem: "no authorities" };
  const pair = (material: Material): { certPem: string; keyPem: string } => ({
    certPem: material.crt,
    keyPem: material.key,
  });
  return {
    authorities: {
      cluster: pair(root),
      etcd: pair(etcd),
      frontProxy: pair(proxy),
      serviceAccount: { publicKeyPem: account.crt, privateKeyPem: account.key },
    },
  };
}

function singleAuthority({ crt, key }: Material): Authorities {
  const pair = { certPem: crt, keyPem: key };
  return {
    cluster: pair,
    etcd: pair,
    frontProxy: pair,
    serviceAccount: { publicKeyPem: crt, privateKeyPem: key },
  };
}

async function createCa(
  commonName: string,
  algorithm: KeyAlgorithm,
  context: { clock: Clock; random: Random },
): Promise<Material> {
  const notBeforeMs = context.clock.now() - BACKDATE_MS;
  const made = await createCertificateAuthority({
    commonName,
    algorithm,
    notBeforeMs,
    validMs: TEN_YEARS_MS,
    random: context.random,
  });
  return { crt: made.certPem, key: made.keyPem };
}

async function createServiceAccount(algorithm: KeyAlgorithm): Promise<Material> {
  const made = await createServiceAccountKey(algorithm);
  return { crt: made.publicKeyPem, key: made.privateKeyPem };
}

async function ensureSecret(
  purpose: SecretPurpose,
  make: () => Promise<Material>,
  request: AuthoritiesRequest,
  context: ReconcileContext,
): Promise<Material | { problem: string }> {
  const name = clusterSecretName(request.cluster.name, purpose);
  const key = { namespace: request.cluster.namespace, name };
  // The cache holds only labelled Secrets; one that a user brought may have no label yet.
  const existing = context.cache.get(Secret, key) ?? (await context.client.get(Secret, key));
  if (existing !== undefined) return await use(existing, request, context);
  if (!request.mayCreate)
    return {
      problem: `Secret ${name} is gone; nodes trust what was in it, so it is not made anew: restore it from a backup`,
    };
  const material = await make();
  try {
    await context.client.create(clusterSecret(request, name, { "tls.crt": material.crt, "tls.key": material.key }));
  } catch (error) {
    if (!isReason(error, "AlreadyExists")) throw error;
    const other = await context.client.get(Secret, key);
    return other === undefined
      ? { problem: `Secret ${name} vanished while it was read` }
      : await use(other, request, context);
  }
  return material;
}

async function use(
  secret: Secret,
  request: AuthoritiesRequest,
  context: ReconcileContext,
): Promise<Material | { problem: string }> {
  const crt = secretText(secret, "tls.crt");
  const key = secretText(secret, "tls.key");
  if (crt === undefined || key === undefined)
    return { problem: `Secret ${secret.metadata.name} must have both tls.crt and tls.key` };
  if (secret.metadata.labels?.[CLUSTER_NAME_LABEL] === undefined)
    await context.client.patch(secret, { metadata: { labels: { [CLUSTER_NAME_LABEL]: request.cluster.name } } });
  return { crt, key };
}

/** A Secret of the cluster, owned by the control plane so that it goes with it. */
export function clusterSecret(
  request: { cluster: ClusterKey; owner: OwnerReference },
  name: string,
  data: Record<string, string>,
): Secret {
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: {
      namespace: request.cluster.namespace,
      name,
      labels: { [CLUSTER_NAME_LABEL]: request.cluster.name },
      ownerReferences: [request.owner],
    },
    type: CLUSTER_SECRET_TYPE,
    data: Object.fromEntries(Object.entries(data).map(([key, text]) => [key, Buffer.from(text).toString("base64")])),
  };
}
