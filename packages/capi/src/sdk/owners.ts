import type { KubeObject } from "@capstan/apimachinery";
import type { Cache } from "@capstan/runtime";
import { CLUSTER_NAME_LABEL } from "../contract/constants.ts";
import { Cluster } from "../kinds/cluster.ts";
import { Machine } from "../kinds/machine.ts";

/** The Machine that owns an infrastructure machine; undefined until core has set the owner, or when it is gone. */
export function ownerMachine(cache: Cache, object: KubeObject): Machine | undefined {
  const name = ownerName(object, Machine);
  return name === undefined ? undefined : cache.get(Machine, { namespace: object.metadata.namespace, name });
}

/** The Cluster that owns an infrastructure cluster. */
export function ownerCluster(cache: Cache, object: KubeObject): Cluster | undefined {
  const name = ownerName(object, Cluster);
  return name === undefined ? undefined : cache.get(Cluster, { namespace: object.metadata.namespace, name });
}

/** The Cluster a machine belongs to: its Machine says, or its label when the Machine is gone. */
export function clusterOfMachine(cache: Cache, object: KubeObject, machine: Machine | undefined): Cluster | undefined {
  const name = machine?.spec.clusterName ?? object.metadata.labels?.[CLUSTER_NAME_LABEL];
  return name === undefined ? undefined : cache.get(Cluster, { namespace: object.metadata.namespace, name });
}

function ownerName(object: KubeObject, kind: { kind: string; group: string }): string | undefined {
  return object.metadata.ownerReferences?.find(
    (owner) => owner.kind === kind.kind && owner.apiVersion.startsWith(`${kind.group}/`),
  )?.name;
}
