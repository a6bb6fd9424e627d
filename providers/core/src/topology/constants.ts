/** Label on all objects of a managed topology; the names below are Cluster API's too. */
export { TOPOLOGY_OWNED_LABEL } from "@capstan/capi";
/** Label with the name of the topology's MachineDeployment that an object belongs to. */
export const TOPOLOGY_DEPLOYMENT_LABEL = "topology.cluster.x-k8s.io/deployment-name";
/** Label with the name of the topology's MachinePool that an object belongs to. */
export const TOPOLOGY_POOL_LABEL = "topology.cluster.x-k8s.io/pool-name";
/** Annotation on a MachineDeployment or MachinePool of a topology that defers its upgrade. */
export const DEFER_UPGRADE_ANNOTATION = "topology.cluster.x-k8s.io/defer-upgrade";
/** Annotation on a MachineDeployment of a topology that defers its upgrade and that of all MachineDeployments after it. */
export const HOLD_UPGRADE_ANNOTATION = "topology.cluster.x-k8s.io/hold-upgrade-sequence";
/** Annotation on a Cluster: how many MachineDeployments and MachinePools are upgraded at the same time; 1 by default. */
export const UPGRADE_CONCURRENCY_ANNOTATION = "topology.cluster.x-k8s.io/upgrade-concurrency";
/** Annotation prefix on a Cluster, followed by any name, that keeps the control plane's upgrade from starting. */
export const BEFORE_UPGRADE_HOOK = "before-upgrade.hook.cluster.cluster.x-k8s.io";
/** Annotation with a digest of the content that a template was created with; different content requires a new template. */
export const CONTENT_ANNOTATION = "topology.capstan.dev/content";
/** Field manager of objects created from classes; the same as upstream's, so that either controller can take over. */
export const TOPOLOGY_MANAGER = "capi-topology";
