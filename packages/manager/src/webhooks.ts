import type { Clock, Random, Unstructured } from "@capstan/apimachinery";
import {
  type AdmissionKind,
  type AdmissionLookup,
  type AnyKind,
  crdWithoutWebhook,
  crdWithWebhook,
  type WebhookTarget,
  webhookConfigurations,
} from "@capstan/capi";
import type { CertificateAndKey } from "@capstan/pki";
import type { Client, Logger, Metrics } from "@capstan/runtime";
import { startWebhookServer } from "./webhook-server.ts";

/** Name of our webhook configurations in a management cluster. */
export const WEBHOOK_CONFIGURATION = "capstan";

/** Settings of the webhooks in a management cluster that is a real Kubernetes. */
export interface WebhookOptions {
  listen: { host: string; port: number };
  /** How the API server reaches them; by default at the address listened on. */
  target?: WebhookTarget;
}

/** How our kinds are converted and admitted: by the embedded API, by webhooks, or not at all, so that only stored versions are served. */
export type KindServing = "in-process" | WebhookOptions | "stored-version-only";

/** The CRDs and webhook configurations to install for the chosen way of serving kinds. */
export interface ServedBy {
  crdOf(kind: AnyKind): Unstructured;
  /** Objects to apply after the kinds are installed. */
  readonly configurations: readonly Unstructured[];
  close(): Promise<void>;
}

/** Starts the webhook server if kinds are served with webhooks, and returns what to install. */
export async function serveKinds(
  serving: KindServing,
  client: Client,
  kinds: readonly AnyKind[],
  deps: {
    clock: Clock;
    random: Random;
    authority?: CertificateAndKey;
    metrics?: Metrics | undefined;
    log?: Logger | undefined;
  },
): Promise<ServedBy> {
  const close = async (): Promise<void> => undefined;
  if (serving === "in-process") return { crdOf: (kind) => kind.crd(), configurations: [], close };
  if (serving === "stored-version-only") return { crdOf: crdWithoutWebhook, configurations: [], close };
  const names = serving.target?.type === "service" ? serviceNames(serving.target) : [];
  const server = await startWebhookServer({
    listen: serving.listen,
    names,
    kinds,
    lookup: lookupBy(client),
    ...deps,
  });
  const target = serving.target ?? { type: "url", base: baseUrl(serving.listen.host, server.port) };
  return {
    crdOf: (kind) => crdWithWebhook(kind, target, server.caPem),
    configurations: webhookConfigurations(kinds, WEBHOOK_CONFIGURATION, target, server.caPem),
    close: server.close,
  };
}

function baseUrl(host: string, port: number): string {
  return `https://${host.includes(":") ? `[${host}]` : host}:${port}`;
}

function serviceNames({ namespace, name }: { namespace: string; name: string }): string[] {
  return [`${name}.${namespace}.svc`, `${name}.${namespace}.svc.cluster.local`];
}

function lookupBy(client: Client): AdmissionLookup {
  return {
    get: (kind: AdmissionKind, namespace, name) => client.get<Unstructured>(kind, { namespace, name }),
    list: async (kind: AdmissionKind, namespace) =>
      (await client.list<Unstructured>(kind, namespace === undefined ? {} : { namespace })).items,
  };
}
