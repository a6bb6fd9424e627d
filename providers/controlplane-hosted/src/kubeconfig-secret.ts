import type { OwnerReference } from "@capstan/apimachinery";
import { type ClusterKey, clusterSecretName, Secret, secretText } from "@capstan/capi";
import { buildKubeconfig, issueCertificate, parseCertificate } from "@capstan/pki";
import type { ReconcileContext } from "@capstan/runtime";
import { parse } from "yaml";
import { clusterSecret } from "./authorities.ts";
import type { Authorities } from "./certificates.ts";
import { hostPort } from "./network.ts";

const YEAR_MS = 365 * 24 * 3600_000;

export interface KubeconfigRequest {
  cluster: ClusterKey;
  owner: OwnerReference;
  endpoint: { host: string; port: number };
  /** The path under which the API lives, for placements that serve many on one listener. */
  path?: string;
  /** The name such an API is asked for by, when its listener has many certificates. */
  serverName?: string;
  authorities: Authorities;
}

/** The admin kubeconfig in `<cluster>-kubeconfig`, made anew when half of its certificate's life is over. Returns its text. */
export async function ensureKubeconfigSecret(request: KubeconfigRequest, context: ReconcileContext): Promise<string> {
  const name = clusterSecretName(request.cluster.name, "kubeconfig");
  const server = `https://${hostPort(request.endpoint.host, request.endpoint.port)}${request.path ?? ""}`;
  const existing = context.cache.get(Secret, { namespace: request.cluster.namespace, name });
  const current = secretText(existing, "value");
  if (existing !== undefined && current !== undefined) {
    // The cache hands out the same object until it changes: read once.
    const facts = known.get(existing) ?? factsOf(current);
    known.set(existing, facts);
    if (isCurrent(facts, server, request.authorities.cluster.certPem, context.clock.now())) return current;
  }
  const leaf = await issueCertificate(request.authorities.cluster, {
    commonName: "kubernetes-admin",
    organizations: ["system:masters"],
    usages: ["client"],
    nowMs: context.clock.now(),
    validMs: YEAR_MS,
    random: context.random,
  });
  const kubeconfig = buildKubeconfig({
    server,
    ...(request.serverName === undefined ? {} : { tlsServerName: request.serverName }),
    caPem: request.authorities.cluster.certPem,
    clusterName: request.cluster.name,
    userName: `${request.cluster.name}-admin`,
    contextName: `${request.cluster.name}-admin@${request.cluster.name}`,
    clientCertPem: leaf.certPem,
    clientKeyPem: leaf.keyPem,
  });
  await context.client.apply(clusterSecret(request, name, { value: kubeconfig }));
  return kubeconfig;
}

interface KubeconfigDocument {
  clusters?: { cluster?: { server?: string; "certificate-authority-data"?: string } }[];
  users?: { user?: { "client-certificate-data"?: string } }[];
}

/** What decides whether a kubeconfig is still good. */
interface KubeconfigFacts {
  server: string | undefined;
  caData: string | undefined;
  /** When half of its certificate's life is over; undefined without a certificate. */
  halfLifeMs: number | undefined;
}

const known = new WeakMap<Secret, KubeconfigFacts>();

function factsOf(kubeconfig: string): KubeconfigFacts {
  const document = parse(kubeconfig) as KubeconfigDocument;
  const cluster = document.clusters?.[0]?.cluster;
  const certificate = document.users?.[0]?.user?.["client-certificate-data"];
  const facts = { server: cluster?.server, caData: cluster?.["certificate-authority-data"] };
  if (certificate === undefined) return { ...facts, halfLifeMs: undefined };
  const { notBeforeMs, notAfterMs } = parseCertificate(Buffer.from(certificate, "base64").toString("utf8"));
  return { ...facts, halfLifeMs: (notBeforeMs + notAfterMs) / 2 };
}

/** Whether a kubeconfig still leads to the server, trusts its CA, and has more than half of its life before it. */
function isCurrent(facts: KubeconfigFacts, server: string, caPem: string, nowMs: number): boolean {
  if (facts.server !== server || facts.caData !== Buffer.from(caPem).toString("base64")) return false;
  // One that somebody wrote without a client certificate is theirs to keep.
  return facts.halfLifeMs === undefined || nowMs < facts.halfLifeMs;
}
