import { type Clock, isObject, type OwnerReference } from "@capstan/apimachinery";
import { readForeignYaml } from "@capstan/apimachinery/foreign";
import { type ClusterKey, clusterSecretName, Secret, secretText } from "@capstan/capi";
import {
  buildKubeconfig,
  type CertificateAndKey,
  issueCertificate,
  type KeyAlgorithm,
  parseCertificate,
} from "@capstan/pki";
import type { ReconcileContext } from "@capstan/runtime";
import { clusterSecret } from "./authorities.ts";
import { type Authorities, trusted } from "./authority.ts";
import { hostPort } from "./network.ts";

const YEAR_MS = 365 * 24 * 3600_000;

/** Which cluster the kubeconfig is for, and the endpoint and CAs that go into it. */
export interface KubeconfigRequest {
  cluster: ClusterKey;
  owner: OwnerReference;
  endpoint: { host: string; port: number };
  /** The path under which the API lives, for placements that serve many on one listener. */
  path?: string;
  /** The TLS server name of such an API, when its listener has many certificates. */
  serverName?: string;
  authorities: Authorities;
  /** Of the administrator's key. */
  algorithm: KeyAlgorithm;
  /** How long its certificate is valid; a year by default. */
  validMs?: number;
}

/**
 * Ensures the admin kubeconfig in the Secret `<cluster>-kubeconfig`, renewed at half of its certificate's lifetime or when the CA was
 * rotated. Returns its text and when to renew it.
 */
export async function ensureKubeconfigSecret(
  request: KubeconfigRequest,
  context: ReconcileContext,
): Promise<{ text: string; renewAtMs: number }> {
  const name = clusterSecretName(request.cluster.name, "kubeconfig");
  const server = `https://${hostPort(request.endpoint.host, request.endpoint.port)}${request.path ?? ""}`;
  const existing = context.cache.get(Secret, { namespace: request.cluster.namespace, name });
  const current = secretText(existing, "value");
  if (existing !== undefined && current !== undefined) {
    // The cache hands out the same object until it changes: parsed once.
    const facts = known.get(existing) ?? (await factsOf(current, context.clock));
    known.set(existing, facts);
    if (isCurrent(facts, server, request.authorities, context.clock.now()))
      return { text: current, renewAtMs: facts.halfLifeMs ?? Infinity };
  }
  const leaf = await issueCertificate(request.authorities.cluster, {
    commonName: "kubernetes-admin",
    organizations: ["system:masters"],
    usages: ["client"],
    algorithm: request.algorithm,
    nowMs: context.clock.now(),
    validMs: request.validMs ?? YEAR_MS,
    random: context.random,
  });
  const kubeconfig = buildKubeconfig({
    server,
    tlsServerName: request.serverName,
    caPem: trusted(request.authorities, "cluster"),
    clusterName: request.cluster.name,
    userName: `${request.cluster.name}-admin`,
    contextName: `${request.cluster.name}-admin@${request.cluster.name}`,
    clientCertPem: leaf.certPem,
    clientKeyPem: leaf.keyPem,
  });
  const written = await context.client.apply(clusterSecret(request, name, { value: kubeconfig }));
  const caData = Buffer.from(trusted(request.authorities, "cluster")).toString("base64");
  known.set(written, { server, caData, ...certificateFacts(leaf.certPem) });
  return { text: kubeconfig, renewAtMs: context.clock.now() + (request.validMs ?? YEAR_MS) / 2 };
}

interface KubeconfigDocument {
  clusters?: { cluster?: { server?: string; "certificate-authority-data"?: string } }[];
  users?: { user?: { "client-certificate-data"?: string } }[];
}

/** What decides whether a kubeconfig is still valid. */
interface KubeconfigFacts {
  server: string | undefined;
  caData: string | undefined;
  /** When half of its certificate's life is over; undefined without a certificate. */
  halfLifeMs: number | undefined;
  /** Key id of what signed its certificate. */
  signedBy: string | undefined;
}

const known = new WeakMap<Secret, KubeconfigFacts>();

const MAX_BYTES = 256 * 1024;

/** Any user who may write Secrets may have written it, so an unreadable one is replaced. */
async function factsOf(kubeconfig: string, clock: Clock): Promise<KubeconfigFacts> {
  const document = await readForeignYaml(kubeconfig, { clock, maxBytes: MAX_BYTES }).catch(() => undefined);
  const { clusters, users } = (isObject(document) ? document : {}) as KubeconfigDocument;
  const cluster = clusters?.[0]?.cluster;
  const certificate = users?.[0]?.user?.["client-certificate-data"];
  const facts = { server: cluster?.server, caData: cluster?.["certificate-authority-data"] };
  if (certificate === undefined) return { ...facts, halfLifeMs: undefined, signedBy: undefined };
  return { ...facts, ...certificateFacts(Buffer.from(certificate, "base64").toString("utf8")) };
}

function certificateFacts(pem: string): Pick<KubeconfigFacts, "halfLifeMs" | "signedBy"> {
  const parsed = parseCertificate(pem);
  return { halfLifeMs: (parsed.notBeforeMs + parsed.notAfterMs) / 2, signedBy: parsed.authorityKeyId };
}

/** Whether a kubeconfig still leads to the server, trusts its CA, is signed by it, and has more than half of its lifetime left. */
function isCurrent(facts: KubeconfigFacts, server: string, authorities: Authorities, nowMs: number): boolean {
  const caData = Buffer.from(trusted(authorities, "cluster")).toString("base64");
  if (facts.server !== server || facts.caData !== caData) return false;
  // A kubeconfig without a client certificate was written by a user and is kept.
  if (facts.halfLifeMs === undefined) return true;
  return nowMs < facts.halfLifeMs && isSignedBy(facts, authorities.cluster);
}

const keyIds = new WeakMap<CertificateAndKey, string | undefined>();

function isSignedBy(facts: KubeconfigFacts, authority: CertificateAndKey): boolean {
  if (!keyIds.has(authority)) keyIds.set(authority, parseCertificate(authority.certPem).subjectKeyId);
  const id = keyIds.get(authority);
  return id === undefined || id === facts.signedBy;
}
