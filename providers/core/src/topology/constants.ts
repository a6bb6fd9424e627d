/** Names of managed topologies, as Cluster API fixes them. */
export { TOPOLOGY_OWNED_LABEL } from "@capstan/capi";
export const TOPOLOGY_DEPLOYMENT_LABEL = "topology.cluster.x-k8s.io/deployment-name";
export const TOPOLOGY_POOL_LABEL = "topology.cluster.x-k8s.io/pool-name";
export const DEFER_UPGRADE_ANNOTATION = "topology.cluster.x-k8s.io/defer-upgrade";
export const HOLD_UPGRADE_ANNOTATION = "topology.cluster.x-k8s.io/hold-upgrade-sequence";
export const UPGRADE_CONCURRENCY_ANNOTATION = "topology.cluster.x-k8s.io/upgrade-concurrency";
/** On a Cluster, with any name behind it: the control plane's upgrade does not begin while it is there. */
export const BEFORE_UPGRADE_HOOK = "before-upgrade.hook.cluster.cluster.x-k8s.io";
/** Digest of the content a template was made with: another one means another template. */
export const CONTENT_ANNOTATION = "topology.capstan.dev/content";
/** Who owns the fields of objects made from classes; upstream's name, so that either can go on where the other stopped. */
export const TOPOLOGY_MANAGER = "capi-topology";
