/** Annotation on a Metal3Machine: the host that it has claimed, as NAMESPACE/NAME. */
export const HOST_ANNOTATION = "metal3.io/BareMetalHost";
/** Label on a BareMetalHost: its failure domain. */
export const FAILURE_DOMAIN_LABEL = "infrastructure.cluster.x-k8s.io/failure-domain";
/** Label that reserves a host for the successor of the machine that released it. */
export const NODE_REUSE_LABEL = "infrastructure.cluster.x-k8s.io/node-reuse";
/** Annotations that exclude a host after failed remediation until a user removes them. */
export const UNHEALTHY_ANNOTATIONS = ["capm3.metal3.io/unhealthy", "capi.metal3.io/unhealthy"] as const;
/** Value of the paused annotation that this provider sets; it removes no other value. */
export const OWN_PAUSE = "metal3.io/capm3";
/** Annotation that keeps `clusterctl move` from moving a host in use before it is paused. */
export const BLOCK_MOVE_ANNOTATION = "clusterctl.cluster.x-k8s.io/block-move";
/** Label on a Node: the UID of the BareMetalHost that it runs on. */
export const NODE_UUID_LABEL = "metal3.io/uuid";
/** Annotation on a Metal3Cluster: comma-separated prefixes of host labels that are copied to Nodes. */
export const LABEL_SYNC_ANNOTATION = "metal3.io/metal3-label-sync-prefixes";
