import { CLUSTER_NAME_LABEL, type Cluster, ConfigMap, Machine } from "@capstan/capi";
import { createIfAbsent, type ReconcileContext } from "@capstan/runtime";

const INFORMATION = "lock-information";

function lockKey(cluster: Cluster): { namespace: string; name: string } {
  return { namespace: cluster.metadata.namespace ?? "", name: `${cluster.metadata.name}-lock` };
}

/**
 * Takes the ConfigMap lock that lets only one Machine run `kubeadm init`, and returns the name of its holder. The lock of a deleted Machine
 * is replaced.
 */
export async function takeInitLock(cluster: Cluster, machine: string, context: ReconcileContext): Promise<string> {
  const lock: ConfigMap = {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: {
      ...lockKey(cluster),
      labels: { [CLUSTER_NAME_LABEL]: cluster.metadata.name ?? "" },
      ownerReferences: [
        {
          apiVersion: cluster.apiVersion,
          kind: cluster.kind,
          name: cluster.metadata.name ?? "",
          uid: cluster.metadata.uid ?? "",
        },
      ],
    },
    data: { [INFORMATION]: JSON.stringify({ machineName: machine }) },
  };
  const existing = await context.client.get(ConfigMap, lockKey(cluster));
  const holder = existing === undefined ? undefined : holderOf(existing);
  if (existing !== undefined) {
    const { namespace } = lockKey(cluster);
    const alive = holder === machine || context.cache.get(Machine, { namespace, name: holder ?? "" }) !== undefined;
    if (alive) return holder ?? "";
    // Only the very lock that was read: another waiting Machine may have taken it over meanwhile.
    const uid = existing.metadata.uid ?? "";
    await context.client.delete({ kind: ConfigMap, ...lockKey(cluster) }, { preconditions: { uid } });
  }
  if (await createIfAbsent(context.client, lock)) return machine;
  const taken = await context.client.get(ConfigMap, lockKey(cluster));
  return (taken === undefined ? undefined : holderOf(taken)) ?? "another Machine";
}

/** Deletes the init lock if it exists. */
export async function releaseInitLock(cluster: Cluster, context: ReconcileContext): Promise<void> {
  await context.client.delete({ kind: ConfigMap, ...lockKey(cluster) });
}

function holderOf(lock: ConfigMap): string | undefined {
  try {
    const { machineName } = JSON.parse(lock.data?.[INFORMATION] ?? "{}") as { machineName?: unknown };
    return typeof machineName === "string" ? machineName : undefined;
  } catch {
    return undefined;
  }
}
