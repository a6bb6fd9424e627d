import type { KubeObject } from "@capstan/apimachinery";
import type { Cache } from "@capstan/runtime";
import { CLUSTER_NAME_LABEL } from "../contract/constants.ts";
import { Cluster } from "../kinds/cluster.ts";
import { Machine } from "../kinds/machine.ts";

/** The Machine that owns an infrastructure machine; undefined until core has set the owner, or once it is deleted. */
export function ownerMachine(cache: Cache, object: KubeObject): Machine | undefined {
  const name = ownerName(object, Machine);
  return name === undefined ? undefined : cache.get(Machine, { namespace: object.metadata.namespace, name });
}

/** The name of the Cluster that owns an object, such as an infrastructure cluster or a control plane. */
export function ownerClusterName(object: KubeObject): string | undefined {
  return ownerName(object, Cluster);
}

/** The Cluster that owns an object; undefined until core has set the owner, or when it is deleted. */
export function ownerCluster(cache: Cache, object: KubeObject): Cluster | undefined {
  const name = ownerClusterName(object);
  return name === undefined ? undefined : cache.get(Cluster, { namespace: object.metadata.namespace, name });
}

/** The Cluster a machine belongs to: its Machine says, or its label once the Machine is deleted. */
export function clusterOfMachine(cache: Cache, object: KubeObject, machine: Machine | undefined): Cluster | undefined {
  const name = machine?.spec.clusterName ?? object.metadata.labels?.[CLUSTER_NAME_LABEL];
  return name === undefined ? undefined : cache.get(Cluster, { namespace: object.metadata.namespace, name });
}

function ownerName(object: KubeObject, kind: { kind: string; group: string }): string | undefined {
  return object.metadata.ownerReferences?.find(
    (owner) => owner.kind === kind.kind && owner.apiVersion.startsWith(`${kind.group}/`),
  )?.name;
}
