/** Names fixed by Cluster API: labels, annotations, finalizers, secrets. */
export const CLUSTER_NAME_LABEL = "cluster.x-k8s.io/cluster-name";
export const CONTROL_PLANE_LABEL = "cluster.x-k8s.io/control-plane";
export const CONTROL_PLANE_NAME_LABEL = "cluster.x-k8s.io/control-plane-name";
export const SET_NAME_LABEL = "cluster.x-k8s.io/set-name";
export const DEPLOYMENT_NAME_LABEL = "cluster.x-k8s.io/deployment-name";
export const POOL_NAME_LABEL = "cluster.x-k8s.io/pool-name";
export const TOPOLOGY_OWNED_LABEL = "topology.cluster.x-k8s.io/owned";
export const TEMPLATE_HASH_LABEL = "machine-template-hash";

export const PAUSED_ANNOTATION = "cluster.x-k8s.io/paused";
export const MANAGED_BY_ANNOTATION = "cluster.x-k8s.io/managed-by";
export const DELETE_MACHINE_ANNOTATION = "cluster.x-k8s.io/delete-machine";
export const CLONED_FROM_NAME_ANNOTATION = "cluster.x-k8s.io/cloned-from-name";
export const CLONED_FROM_GROUP_KIND_ANNOTATION = "cluster.x-k8s.io/cloned-from-groupkind";

export const CLUSTER_FINALIZER = "cluster.cluster.x-k8s.io";
export const MACHINE_FINALIZER = "machine.cluster.x-k8s.io";

/** Type of Secrets that belong to a cluster. */
export const CLUSTER_SECRET_TYPE = "cluster.x-k8s.io/secret";

/** Secret purposes: the Secret is named `<cluster>-<purpose>`. */
export type SecretPurpose = "ca" | "etcd" | "proxy" | "sa" | "kubeconfig" | "apiserver-etcd-client";

export function clusterSecretName(cluster: string, purpose: SecretPurpose): string {
  return `${cluster}-${purpose}`;
}

/** Group of infrastructure kinds, by convention of Cluster API. */
export const INFRASTRUCTURE_GROUP = "infrastructure.cluster.x-k8s.io";
/** Set on dry-run applies by topology controllers, which must be able to ask what a change would lead to. */
export const TOPOLOGY_DRY_RUN_ANNOTATION = "topology.cluster.x-k8s.io/dry-run";
