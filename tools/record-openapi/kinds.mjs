/** Which kinds of the real server are recorded: what the embedded API serves, and the bodies of its subresources. */
export const kinds = {
  v1: [
    "Namespace",
    "Secret",
    "ConfigMap",
    "Event",
    "ServiceAccount",
    "Node",
    "Pod",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "Service",
    "Endpoints",
  ],
  "events.k8s.io/v1": ["Event"],
  "apps/v1": ["Deployment", "StatefulSet", "DaemonSet", "ReplicaSet"],
  "batch/v1": ["Job"],
  "policy/v1": ["PodDisruptionBudget", "Eviction"],
  "storage.k8s.io/v1": ["VolumeAttachment", "StorageClass"],
  "scheduling.k8s.io/v1": ["PriorityClass"],
  "discovery.k8s.io/v1": ["EndpointSlice"],
  "coordination.k8s.io/v1": ["Lease"],
  "rbac.authorization.k8s.io/v1": ["Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding"],
  "certificates.k8s.io/v1": ["CertificateSigningRequest"],
  "admissionregistration.k8s.io/v1": ["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"],
  "apiregistration.k8s.io/v1": ["APIService"],
  "apiextensions.k8s.io/v1": ["CustomResourceDefinition"],
  "authentication.k8s.io/v1": ["TokenReview", "SelfSubjectReview", "TokenRequest"],
  "authorization.k8s.io/v1": [
    "SelfSubjectAccessReview",
    "SubjectAccessReview",
    "LocalSubjectAccessReview",
    "SelfSubjectRulesReview",
  ],
  "autoscaling/v1": ["Scale"],
};

/** Definitions that every published document carries. */
export const metaDefinitions = [
  "ObjectMeta",
  "ListMeta",
  "OwnerReference",
  "ManagedFieldsEntry",
  "FieldsV1",
  "Time",
  "MicroTime",
  "Status",
  "StatusDetails",
  "StatusCause",
  "DeleteOptions",
  "Preconditions",
  "Patch",
  "WatchEvent",
  "APIResourceList",
  "APIGroup",
  "APIGroupList",
  "APIVersions",
].map((name) => `io.k8s.apimachinery.pkg.apis.meta.v1.${name}`);

export const documentPath = (groupVersion) =>
  groupVersion.includes("/") ? `apis/${groupVersion}` : `api/${groupVersion}`;
