/** Pre-terminate hook with which a control plane holds a Machine until its member of etcd is removed. */
export const CLEANUP_HOOK = "pre-terminate.delete.hook.machine.cluster.x-k8s.io/kcp-cleanup";
/** Annotation of a control plane with the remediation whose replacement has yet to be created. */
export const REMEDIATION_IN_PROGRESS = "controlplane.cluster.x-k8s.io/remediation-in-progress";
/** Annotation of a Machine with the remediation that it was created for. */
export const REMEDIATION_FOR = "controlplane.cluster.x-k8s.io/remediation-for";
/** Annotation of KubeadmConfigs with the end of validity of the Machine's certificates. */
export const CERTIFICATES_EXPIRY = "machine.cluster.x-k8s.io/certificates-expiry";
/** Annotation of a Cluster with the version that its topology is being upgraded to at the moment. */
export const UPGRADE_STEP = "topology.internal.cluster.x-k8s.io/upgrade-step";
/** When the etcd of a control plane on Machines is defragmented: five fields of cron in UTC. */
export const DEFRAGMENT_SCHEDULE = "capstan.dev/etcd-defragment-schedule";
/** Finalizer of a KubeadmControlPlane; removed once its Machines are deleted. */
export const FINALIZER = "kubeadm.controlplane.cluster.x-k8s.io";
/** Annotation of a KubeadmControlPlane whose `kubeadm init` has finished. Its value is the object's name, so that copies do not count. */
export const INITIALIZED = "capstan.dev/control-plane-initialized";
/** Annotation of a Machine that was created to run `kubeadm init`. Machines of other managers and older versions do not have it. */
export const STARTS_CLUSTER = "capstan.dev/starts-control-plane";
