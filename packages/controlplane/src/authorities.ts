import { type Clock, type OwnerReference, type Random } from "@capstan/apimachinery";
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
  parseCertificate,
} from "@capstan/pki";
import { createIfAbsent, type ReconcileContext } from "@capstan/runtime";
import type { Authorities, AuthorityKey } from "./authority.ts";
import {
  type AuthorityData,
  afterStep,
  authoritiesEndMs,
  type Rotation,
  type RotationReport,
  rotationState,
  rotationStep,
  wantedPhase,
} from "./rotation.ts";

const TEN_YEARS_MS = 3650 * 24 * 3600_000;

type Material = Pick<AuthorityData, "crt" | "key">;

/** Whose CAs are needed, and whether they may be created, restored or rotated. */
export interface AuthoritiesRequest {
  cluster: ClusterKey;
  owner: OwnerReference;
  algorithm: KeyAlgorithm;
  /** Whether missing CAs may be created. Once nodes trust a CA it is never replaced; a missing one must be restored by the user. */
  mayCreate: boolean;
  /** The CAs of a restored backup, to create the Secrets from instead of new ones. */
  known?: Authorities;
  /** Uses the cluster's CA for every purpose and creates no others. */
  single?: boolean;
  /** How long new CAs are valid; ten years by default. */
  validMs?: number;
  /** etcd belongs to someone else: the user brings its CA, whose key may be missing, and a client certificate for the API server. */
  externalEtcd?: boolean;
  rotation?: Rotation | undefined;
}

/** The CAs of a control plane, or why they are not available. */
export type AuthoritiesResult =
  | { authorities: Authorities; rotation: RotationReport[]; endMs: number }
  | { problem: string };

/** Reads the CAs and the service account key from the Secrets that Cluster API defines, and creates missing ones if allowed. */
export async function ensureAuthorities(
  request: AuthoritiesRequest,
  context: ReconcileContext,
): Promise<AuthoritiesResult> {
  const { known, algorithm } = request;
  const one = (
    authority: AuthorityKey,
    purpose: SecretPurpose,
    make: () => Promise<Material>,
  ): Promise<Ensured | { problem: string }> => {
    const restored = known === undefined ? undefined : restoredData(known, authority);
    return ensureSecret({ authority, purpose, make, restored }, request, context);
  };
  const validMs = request.validMs ?? TEN_YEARS_MS;
  const ca = (commonName: string) => (): Promise<Material> => createCa({ commonName, algorithm, validMs }, context);
  const cluster = one("cluster", "ca", ca("kubernetes"));
  if (request.single === true) {
    const made = await cluster;
    if ("problem" in made) return made;
    const authorities = singleAuthority(made.data);
    return { authorities, rotation: [made.report], endMs: authoritiesEndMs(authorities) };
  }
  const [root, etcd, proxy, account] = await Promise.all([
    cluster,
    request.externalEtcd === true ? externalEtcd(request, context) : one("etcd", "etcd", ca("etcd-ca")),
    one("frontProxy", "proxy", ca("front-proxy-ca")),
    one("serviceAccount", "sa", () => createServiceAccount(algorithm)),
  ]);
  if ("problem" in root) return root;
  if ("problem" in etcd) return etcd;
  if ("problem" in proxy) return proxy;
  if ("problem" in account) return account;
  const pair = ({ data }: Ensured): CertificateAndKey => ({ certPem: data.crt, keyPem: data.key });
  const also = Object.fromEntries(
    [root, etcd, proxy, account].flatMap(({ data, report }) => {
      const other = data.previousCrt ?? data.nextCrt;
      return other === undefined ? [] : [[report.authority, other]];
    }),
  );
  const { nextCrt, nextKey } = root.data;
  const authorities: Authorities = {
    cluster: pair(root),
    etcd: pair(etcd),
    frontProxy: pair(proxy),
    serviceAccount: { publicKeyPem: account.data.crt, privateKeyPem: account.data.key },
    ...(Object.keys(also).length === 0 ? {} : { also }),
    ...(nextCrt === undefined || nextKey === undefined ? {} : { nodeSigner: { certPem: nextCrt, keyPem: nextKey } }),
  };
  const rotation = [root, etcd, proxy, account].map(({ report }) => report);
  return { authorities, rotation, endMs: authoritiesEndMs(authorities) };
}

interface Ensured {
  data: AuthorityData;
  report: RotationReport;
}

/** What a restored control plane's Secret holds: both of two authorities between which the backup was made stay trusted. */
function restoredData(known: Authorities, authority: AuthorityKey): AuthorityData {
  const also = known.also?.[authority];
  const rest = also === undefined ? {} : { previousCrt: also };
  if (authority === "serviceAccount")
    return { crt: known.serviceAccount.publicKeyPem, key: known.serviceAccount.privateKeyPem, ...rest };
  return { crt: known[authority].certPem, key: known[authority].keyPem, ...rest };
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
  ca: { commonName: string; algorithm: KeyAlgorithm; validMs: number },
  context: { clock: Clock; random: Random },
): Promise<Material> {
  const notBeforeMs = context.clock.now() - BACKDATE_MS;
  const made = await createCertificateAuthority({ ...ca, notBeforeMs, random: context.random });
  return { crt: made.certPem, key: made.keyPem };
}

async function createServiceAccount(algorithm: KeyAlgorithm): Promise<Material> {
  const made = await createServiceAccountKey(algorithm);
  return { crt: made.publicKeyPem, key: made.privateKeyPem };
}

interface Wanted {
  authority: AuthorityKey;
  purpose: SecretPurpose;
  make: () => Promise<Material>;
  restored: AuthorityData | undefined;
}

async function ensureSecret(
  wanted: Wanted,
  request: AuthoritiesRequest,
  context: ReconcileContext,
): Promise<Ensured | { problem: string }> {
  const name = clusterSecretName(request.cluster.name, wanted.purpose);
  const key = { namespace: request.cluster.namespace, name };
  // The cache holds only labelled Secrets; one that a user brought may have no label yet.
  const existing = context.cache.get(Secret, key) ?? (await context.client.get(Secret, key));
  if (existing !== undefined) return await use(existing, wanted, request, context);
  if (!request.mayCreate)
    return {
      problem: `Secret ${name} is missing; nodes trust its CA, so no new one is created: restore the Secret from a backup`,
    };
  const data = wanted.restored ?? (await wanted.make());
  if (!(await createIfAbsent(context.client, clusterSecret(request, name, secretData(data))))) {
    const other = await context.client.get(Secret, key);
    return other === undefined
      ? { problem: `Secret ${name} was deleted while it was read` }
      : await use(other, wanted, request, context);
  }
  return { data, report: { authority: wanted.authority, state: rotationState(data) } };
}

/** Reads what the user brings for an etcd of their own; none of it is ever created. */
async function externalEtcd(
  { cluster }: AuthoritiesRequest,
  context: ReconcileContext,
): Promise<Ensured | { problem: string }> {
  const read = async (purpose: SecretPurpose): Promise<Secret | undefined> => {
    const key = { namespace: cluster.namespace, name: clusterSecretName(cluster.name, purpose) };
    const secret = context.cache.get(Secret, key) ?? (await context.client.get(Secret, key));
    if (secret !== undefined) await label(secret, cluster, context);
    return secret;
  };
  const [ca, client] = await Promise.all([read("etcd"), read("apiserver-etcd-client")]);
  const crt = secretText(ca, "tls.crt");
  if (crt === undefined)
    return {
      problem: `Secret ${clusterSecretName(cluster.name, "etcd")} with the CA of the external etcd (tls.crt) is missing; create it`,
    };
  if (secretText(client, "tls.crt") === undefined || secretText(client, "tls.key") === undefined)
    return {
      problem: `Secret ${clusterSecretName(cluster.name, "apiserver-etcd-client")} with the API server's client certificate for the external etcd (tls.crt, tls.key) is missing; create it`,
    };
  const outside = ca === undefined ? undefined : validityProblem(ca, crt, context.clock.now());
  if (outside !== undefined) return { problem: outside };
  return { data: { crt, key: secretText(ca, "tls.key") ?? "" }, report: { authority: "etcd", state: "Idle" } };
}

/** The cache holds only labelled Secrets. */
async function label(secret: Secret, cluster: ClusterKey, context: ReconcileContext): Promise<void> {
  if (secret.metadata.labels?.[CLUSTER_NAME_LABEL] !== undefined) return;
  await context.client.patch(secret, { metadata: { labels: { [CLUSTER_NAME_LABEL]: cluster.name } } });
}

async function use(
  secret: Secret,
  wanted: Wanted,
  request: AuthoritiesRequest,
  context: ReconcileContext,
): Promise<Ensured | { problem: string }> {
  const crt = secretText(secret, "tls.crt");
  const key = secretText(secret, "tls.key");
  if (crt === undefined || key === undefined)
    return { problem: `Secret ${secret.metadata.name} must have both tls.crt and tls.key` };
  await label(secret, request.cluster, context);
  const outside = wanted.authority === "serviceAccount" ? undefined : validityProblem(secret, crt, context.clock.now());
  if (outside !== undefined) return { problem: outside };
  const data: AuthorityData = { crt, key };
  for (const [field, name] of Object.entries(ROTATION_KEYS)) {
    const text = secretText(secret, name);
    if (text !== undefined) data[field as keyof typeof ROTATION_KEYS] = text;
  }
  return await rotate(secret, data, wanted, request, context);
}

/** A CA that is not valid now: nothing that it issues would be valid either, and each component would report that differently. */
function validityProblem(secret: Secret, pem: string, nowMs: number): string | undefined {
  const { name } = secret.metadata;
  const time = (ms: number): string => new Date(ms).toISOString();
  // To the hour: a condition that changed with every look would be written with every look, and each write is a reason to look.
  const clock = `${new Date(nowMs).toISOString().slice(0, 13)}:00Z`;
  let parsed: ReturnType<typeof parseCertificate>;
  try {
    parsed = knownCertificates.get(secret) ?? parseCertificate(pem);
  } catch (error) {
    return `Secret ${name}: tls.crt cannot be read: ${error instanceof Error ? error.message : String(error)}`;
  }
  knownCertificates.set(secret, parsed);
  if (nowMs < parsed.notBeforeMs)
    return `Secret ${name}: the CA is not valid before ${time(parsed.notBeforeMs)}, and this machine's clock says ${clock}; set the clock right (timedatectl set-ntp true)`;
  if (nowMs >= parsed.notAfterMs)
    return `Secret ${name}: the CA expired at ${time(parsed.notAfterMs)}, and this machine's clock says ${clock}; set the clock right, or bring a new CA and join the nodes again`;
  return undefined;
}

/** The cache hands out the same object until it changes: parsed once. */
const knownCertificates = new WeakMap<Secret, ReturnType<typeof parseCertificate>>();

/** Takes the next step of a rotation, in one write. */
async function rotate(
  secret: Secret,
  data: AuthorityData,
  { authority, make }: Wanted,
  request: AuthoritiesRequest,
  context: ReconcileContext,
): Promise<Ensured> {
  const state = rotationState(data);
  const step = rotationStep(state, wantedPhase(request.rotation, authority));
  if (step.type === "none") return { data, report: { authority, state } };
  if (request.single === true)
    return {
      data,
      report: { authority, state, problem: "this placement does not support rotation; create a new control plane" },
    };
  if (step.type === "refused") return { data, report: { authority, state, problem: step.why } };
  const next = afterStep(data, step.type, step.type === "make" ? await make() : undefined);
  const encoded = secretData(next);
  const removed = Object.values(ROTATION_KEYS).filter((name) => encoded[name] === undefined);
  await context.client.patch(secret, {
    metadata: { resourceVersion: secret.metadata.resourceVersion },
    data: { ...base64Values(encoded), ...Object.fromEntries(removed.map((name) => [name, null])) },
  });
  return { data: next, report: { authority, state: rotationState(next) } };
}

const ROTATION_KEYS = { nextCrt: "next.crt", nextKey: "next.key", previousCrt: "previous.crt" } as const;

function secretData(data: AuthorityData): Record<string, string> {
  const rest = Object.entries(ROTATION_KEYS).flatMap(([field, name]) => {
    const text = data[field as keyof typeof ROTATION_KEYS];
    return text === undefined ? [] : [[name, text]];
  });
  return { "tls.crt": data.crt, "tls.key": data.key, ...(Object.fromEntries(rest) as Record<string, string>) };
}

function base64Values(data: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(data).map(([key, text]) => [key, Buffer.from(text).toString("base64")]));
}

/** Builds a Secret of the cluster that is owned by the control plane, so that it is deleted with it. */
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
    data: base64Values(data),
  };
}
