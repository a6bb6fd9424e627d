import { CLUSTER_NAME_LABEL, Cluster, PAUSED_ANNOTATION } from "@capstan/capi";
import type { ByoHost } from "@capstan/host-agent";
import type { ReconcileContext } from "@capstan/runtime";

/** What the annotation says when it is not a person's: an agent cannot see the Cluster it works for. */
const BY_CLUSTER = "its-cluster-is-paused";

/** Reports whether a host is paused. */
export function isPaused(host: ByoHost): boolean {
  return host.metadata.annotations?.[PAUSED_ANNOTATION] !== undefined;
}

/** Returns the Cluster that a host belongs to or is being released from. */
export function clusterOf(host: ByoHost, context: ReconcileContext): Cluster | undefined {
  const name = host.metadata.labels?.[CLUSTER_NAME_LABEL] ?? host.spec?.release?.clusterName;
  return name === undefined
    ? undefined
    : context.cache.get(Cluster, { namespace: host.metadata.namespace ?? "", name });
}

/** Copies the pause of a Cluster to a host, removes it when the Cluster resumes, and returns whether the host is paused. */
export async function handPause(host: ByoHost, context: ReconcileContext): Promise<boolean> {
  const annotation = host.metadata.annotations?.[PAUSED_ANNOTATION];
  const wanted = clusterOf(host, context)?.spec?.paused === true;
  const put = (value: string | null): Promise<unknown> =>
    context.client.patch(host, { metadata: { annotations: { [PAUSED_ANNOTATION]: value } } }, {}, context.signal);
  if (wanted && annotation === undefined) await put(BY_CLUSTER);
  if (wanted || annotation !== BY_CLUSTER) return wanted || annotation !== undefined;
  await put(null);
  return false;
}
