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
/** Annotation of Machines that a person wants to be remediated although they are healthy. */
export const REMEDIATE_MACHINE_ANNOTATION = "cluster.x-k8s.io/remediate-machine";
/** Annotation of Machines that health checks do not remediate. */
export const SKIP_REMEDIATION_ANNOTATION = "cluster.x-k8s.io/skip-remediation";
/** Prefix of annotations of Machines that hold their deletion before the Node is drained. */
export const PRE_DRAIN_HOOK = "pre-drain.delete.hook.machine.cluster.x-k8s.io";
/** Prefix of annotations of Machines that hold their deletion before the infrastructure is deleted. */
export const PRE_TERMINATE_HOOK = "pre-terminate.delete.hook.machine.cluster.x-k8s.io";
/** Annotation of Machines whose Node is not drained on deletion. */
export const EXCLUDE_DRAIN_ANNOTATION = "machine.cluster.x-k8s.io/exclude-node-draining";
/** Annotation of Machines whose deletion does not wait for volumes to be detached. */
export const EXCLUDE_VOLUME_DETACH_ANNOTATION = "machine.cluster.x-k8s.io/exclude-wait-for-node-volume-detach";
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

/**
 * Annotation of a KubeadmConfig with the name of a Secret whose key `script` restores etcd: its Machine runs `kubeadm init` with it although
 * the control plane was initialized before. The key `after` has a script for after it.
 */
export const RESTORE_ANNOTATION = "capstan.dev/restore-etcd-from";
/** Folder of a machine whose bootstrap restores etcd, until it has finished: so long etcd's data is only a copy of what the manager has. */
export const RESTORE_FOLDER = "/var/lib/capstan-recovery";
/** Annotation of a control plane with the name of the ControlPlaneRecovery that its Machines are left to. */
export const RECOVERY_ANNOTATION = "capstan.dev/recovery";
/** `"true"` on a Cluster, control plane or KubeadmConfig drops the flags and feature gates that the version rejects. */
export const DROP_REMOVED_FLAGS_ANNOTATION = "capstan.dev/drop-removed-flags";

/** API group that infrastructure kinds use by convention of Cluster API. */
export const INFRASTRUCTURE_GROUP = "infrastructure.cluster.x-k8s.io";
/** Annotation that topology controllers set on dry-run applies; it lifts the immutability of infrastructure machines and templates. */
export const TOPOLOGY_DRY_RUN_ANNOTATION = "topology.cluster.x-k8s.io/dry-run";
/** Reason of a condition that WorkerPools read: no machine is left to give. */
export const INSUFFICIENT_CAPACITY = "InsufficientCapacity";
