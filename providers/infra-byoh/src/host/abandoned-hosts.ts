import { formatTime, type KubeObject } from "@capstan/apimachinery";
import { ConfigMap, field } from "@capstan/capi";
import { type ByoHost, ENROLMENT_ANNOTATION } from "@capstan/host-agent";
import type { ReconcileContext } from "@capstan/runtime";

const NAMESPACE = "kube-system";
const LABEL = "byoh.infrastructure.cluster.x-k8s.io/given-up";
/** An agent's certificate is valid for 90 days, so no agent can ask later. */
const KEPT_MS = 100 * 24 * 3600_000;

const nameOf = (enrolment: string): string => `byoh-given-up-${enrolment}`;

/**
 * Records in kube-system that a ByoHost was deleted while a node may still run on it, so that its agent cleans the host when it reconnects.
 */
export async function recordAbandonedHost(host: ByoHost, context: ReconcileContext): Promise<void> {
  const { namespace, name, annotations } = host.metadata;
  const enrolment = annotations?.[ENROLMENT_ANNOTATION];
  if (enrolment === undefined) return;
  const { client, clock, signal } = context;
  const note: KubeObject & { data: Record<string, string> } = {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { namespace: NAMESPACE, name: nameOf(enrolment), labels: { [LABEL]: "" } },
    data: { host: `${namespace}/${name}`, since: formatTime(clock.now()) },
  };
  await client.apply(note, {}, signal);
  const { items } = await client.list(ConfigMap, { namespace: NAMESPACE, labelSelector: LABEL }, signal);
  for (const old of items)
    if (clock.now() - Date.parse(old.metadata.creationTimestamp ?? "") > KEPT_MS) await client.delete(old, {}, signal);
}

/**
 * Reports whether a host was deleted with a node on it. The record must name this host, because whoever writes a ByoHost chooses its
 * enrolment and must not be able to wipe a host of another namespace.
 */
export async function wasAbandoned(
  host: { namespace: string; name: string; enrolment: string },
  context: ReconcileContext,
): Promise<boolean> {
  const key = { namespace: NAMESPACE, name: nameOf(host.enrolment) };
  const note = await context.client.get(ConfigMap, key, context.signal);
  return note !== undefined && field(note, "data", "host") === `${host.namespace}/${host.name}`;
}
