import type { KubeObject } from "@capstan/apimachinery";
import { CLUSTER_NAME_LABEL, CONTROL_PLANE_LABEL, type InfraClusterScope } from "@capstan/capi";
import type { Kind } from "@capstan/runtime";
import { PodDisruptionBudget } from "@capstan/workloads";
import type { Backend, Place } from "../backend.ts";
import type { KubernetesCluster } from "../kinds/kubernetes-cluster.ts";
import { keyOf, ownerOf, ownMetadata } from "../names.ts";

type Scope = InfraClusterScope<KubernetesCluster, Backend>;

/**
 * Keeps two PodDisruptionBudgets over the machines of a cluster. Evictions leave a quorum of etcd members; a single one is never evicted.
 * Workers are not evicted at all, but replaced when their outer node is drained. Who deletes pods instead of evicting them is not held
 * back by either.
 */
export async function ensureBudgets({ object, cluster, backend }: Scope, { host, signal }: Place): Promise<void> {
  const owner = ownerOf("kubernetescluster", keyOf(object));
  if (object.spec?.disruptionProtection === "None") {
    await host.remove(PodDisruptionBudget as Kind<KubeObject>, owner, signal);
    return;
  }
  const living = backend.machinesOf(keyOf(cluster)).filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const members = living.filter(({ metadata }) => metadata.labels?.[CONTROL_PLANE_LABEL] !== undefined).length;
  const name = cluster.metadata.name ?? "";
  const budgets = [
    { part: "control-plane", operator: "Exists", minAvailable: Math.floor(members / 2) + 1, machines: members },
    {
      part: "workers",
      operator: "DoesNotExist",
      minAvailable: living.length - members,
      machines: living.length - members,
    },
  ];
  for (const { part, operator, minAvailable, machines } of budgets) {
    const metadata = ownMetadata(owner, `${name}-${part}`, { labels: { [CLUSTER_NAME_LABEL]: name } });
    const live = host.get<KubeObject>(PodDisruptionBudget, { namespace: metadata.namespace, name: metadata.name });
    if (machines === 0 && live === undefined) continue;
    const spec = {
      // A machine that is not ready is not worth protecting, unless it is a member.
      ...(part === "workers" ? { unhealthyPodEvictionPolicy: "AlwaysAllow" } : {}),
      minAvailable: machines === 0 ? 0 : minAvailable,
      selector: {
        matchLabels: { [CLUSTER_NAME_LABEL]: name },
        matchExpressions: [{ key: CONTROL_PLANE_LABEL, operator }],
      },
    };
    const budget = { apiVersion: "policy/v1", kind: "PodDisruptionBudget", metadata, spec };
    await host.ensure<KubeObject>(PodDisruptionBudget, budget, signal);
  }
}
