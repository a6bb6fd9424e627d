/** Label with the name of the Cluster that an object belongs to. */
export const CLUSTER_NAME_LABEL = "cluster.x-k8s.io/cluster-name";
/** Label of control plane Machines and their bootstrap and infrastructure objects; only its presence counts. */
export const CONTROL_PLANE_LABEL = "cluster.x-k8s.io/control-plane";
/** Label of a Machine with the name of the control plane that it belongs to. */
export const CONTROL_PLANE_NAME_LABEL = "cluster.x-k8s.io/control-plane-name";
/** Label of a Machine with the name of its MachineSet. */
export const SET_NAME_LABEL = "cluster.x-k8s.io/set-name";
/** Label of MachineSets and Machines with the name of their MachineDeployment. */
export const DEPLOYMENT_NAME_LABEL = "cluster.x-k8s.io/deployment-name";
/** Label of a Machine with the name of its MachinePool. */
export const POOL_NAME_LABEL = "cluster.x-k8s.io/pool-name";
/** Label of objects that the topology controller creates from a ClusterClass; only its presence counts. */
export const TOPOLOGY_OWNED_LABEL = "topology.cluster.x-k8s.io/owned";
/** Label with the hash of a MachineDeployment's template: it separates the Machines of its MachineSets. */
export const TEMPLATE_HASH_LABEL = "machine-template-hash";

/** Annotation that stops reconciliation of an object; only its presence counts. */
export const PAUSED_ANNOTATION = "cluster.x-k8s.io/paused";
/** Annotation of infrastructure clusters that an external system manages: the provider does not reconcile them. */
export const MANAGED_BY_ANNOTATION = "cluster.x-k8s.io/managed-by";
/** Annotation of Machines that a MachineSet deletes first when it scales down. */
export const DELETE_MACHINE_ANNOTATION = "cluster.x-k8s.io/delete-machine";
/** Annotation with the name of the template that an object was created from. */
export const CLONED_FROM_NAME_ANNOTATION = "cluster.x-k8s.io/cloned-from-name";
/** Annotation with the kind and group, as `Kind.group`, of the template that an object was created from. */
export const CLONED_FROM_GROUP_KIND_ANNOTATION = "cluster.x-k8s.io/cloned-from-groupkind";

/** Finalizer that keeps a Cluster until its workers, control plane and infrastructure are deleted. */
export const CLUSTER_FINALIZER = "cluster.cluster.x-k8s.io";
/** Finalizer that keeps a Machine until its Node is drained and its infrastructure, bootstrap object and Node are deleted. */
export const MACHINE_FINALIZER = "machine.cluster.x-k8s.io";

/** The `type` of Secrets that hold a cluster's certificates, kubeconfig or bootstrap data. */
export const CLUSTER_SECRET_TYPE = "cluster.x-k8s.io/secret";

/** What a Secret of a cluster holds; the Secret is named `<cluster>-<purpose>`. */
export type SecretPurpose = "ca" | "etcd" | "proxy" | "sa" | "kubeconfig" | "apiserver-etcd-client";

/** Returns the name of a cluster's Secret for a purpose, such as `prod-kubeconfig`. */
export function clusterSecretName(cluster: string, purpose: SecretPurpose): string {
  return `${cluster}-${purpose}`;
}

/** API group that infrastructure kinds use by convention of Cluster API. */
export const INFRASTRUCTURE_GROUP = "infrastructure.cluster.x-k8s.io";
/** Annotation that topology controllers set on dry-run applies; it lifts the immutability of infrastructure machines and templates. */
export const TOPOLOGY_DRY_RUN_ANNOTATION = "topology.cluster.x-k8s.io/dry-run";
