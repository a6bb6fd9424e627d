/** Says on a Metal3Machine which host it has claimed, as NAMESPACE/NAME. */
export const HOST_ANNOTATION = "metal3.io/BareMetalHost";
/** Says in which failure domain a host stands. */
export const FAILURE_DOMAIN_LABEL = "infrastructure.cluster.x-k8s.io/failure-domain";
/** Keeps a host for the successor of the machine that gave it back. */
export const NODE_REUSE_LABEL = "infrastructure.cluster.x-k8s.io/node-reuse";
/** A host that remediation gave up; a person takes the annotation off. */
export const UNHEALTHY_ANNOTATIONS = ["capm3.metal3.io/unhealthy", "capi.metal3.io/unhealthy"] as const;
/** Value of the paused annotation that we write, and the only one that we remove. */
export const OWN_PAUSE = "metal3.io/capm3";
/** A host that is in use is moved only once it rests. */
export const BLOCK_MOVE_ANNOTATION = "clusterctl.cluster.x-k8s.io/block-move";
/** Says on a Node which host it runs on: the UID of its BareMetalHost. */
export const NODE_UUID_LABEL = "metal3.io/uuid";
/** On a Metal3Cluster: prefixes of host labels that Nodes get too, separated by commas. */
export const LABEL_SYNC_ANNOTATION = "metal3.io/metal3-label-sync-prefixes";
