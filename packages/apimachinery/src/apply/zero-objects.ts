import { deepFreeze, type JsonObject } from "../json.ts";

const POD_TEMPLATE = { metadata: {}, spec: { containers: null } };

/**
 * What Go's structs of built-in types hold before anything is set. A create is compared with it, so that `spec` itself is
 * unowned in a built-in object while it belongs to the creator in a custom resource. Kinds not listed hold nothing.
 */
const ZERO_OBJECTS: Readonly<Record<string, JsonObject>> = deepFreeze({
  "/Event": {
    involvedObject: {},
    source: {},
    firstTimestamp: null,
    lastTimestamp: null,
    eventTime: null,
    reportingComponent: "",
    reportingInstance: "",
  },
  "/Namespace": { spec: {}, status: {} },
  "/Node": { spec: {}, status: { daemonEndpoints: { kubeletEndpoint: { Port: 0 } }, nodeInfo: {} } },
  "/PersistentVolume": { spec: {}, status: {} },
  "/PersistentVolumeClaim": { spec: { resources: {} }, status: {} },
  "/Pod": { spec: { containers: null }, status: {} },
  "/PodTemplate": { template: POD_TEMPLATE },
  "/Service": { spec: {}, status: { loadBalancer: {} } },
  "apiextensions.k8s.io/CustomResourceDefinition": {
    spec: { group: "", names: { kind: "", plural: "" }, scope: "", versions: null },
    status: { acceptedNames: { kind: "", plural: "" }, conditions: null, storedVersions: null },
  },
  "apiregistration.k8s.io/APIService": { spec: { groupPriorityMinimum: 0, versionPriority: 0 }, status: {} },
  "apps/DaemonSet": { spec: { selector: null, template: POD_TEMPLATE, updateStrategy: {} }, status: {} },
  "apps/Deployment": { spec: { selector: null, strategy: {}, template: POD_TEMPLATE }, status: {} },
  "apps/ReplicaSet": { spec: { selector: null, template: POD_TEMPLATE }, status: {} },
  "apps/StatefulSet": {
    spec: { selector: null, serviceName: "", template: POD_TEMPLATE, updateStrategy: {} },
    status: {},
  },
  "authentication.k8s.io/SelfSubjectReview": { status: { userInfo: {} } },
  "authentication.k8s.io/TokenReview": { spec: {}, status: { user: {} } },
  "authorization.k8s.io/LocalSubjectAccessReview": { spec: {}, status: { allowed: false } },
  "authorization.k8s.io/SelfSubjectAccessReview": { spec: {}, status: { allowed: false } },
  "authorization.k8s.io/SelfSubjectRulesReview": { spec: {}, status: {} },
  "authorization.k8s.io/SubjectAccessReview": { spec: {}, status: { allowed: false } },
  "autoscaling/HorizontalPodAutoscaler": {
    spec: { maxReplicas: 0, scaleTargetRef: { kind: "", name: "" } },
    status: { currentReplicas: 0, desiredReplicas: 0, currentMetrics: null },
  },
  "batch/Job": { spec: { template: POD_TEMPLATE }, status: {} },
  "certificates.k8s.io/CertificateSigningRequest": { spec: { request: null, signerName: "" }, status: {} },
  "coordination.k8s.io/Lease": { spec: {} },
  "events.k8s.io/Event": {
    deprecatedFirstTimestamp: null,
    deprecatedLastTimestamp: null,
    deprecatedSource: {},
    eventTime: null,
    regarding: {},
  },
  "policy/PodDisruptionBudget": {
    spec: {},
    status: { currentHealthy: 0, desiredHealthy: 0, disruptionsAllowed: 0, expectedPods: 0 },
  },
  "rbac.authorization.k8s.io/ClusterRole": { rules: null },
  "rbac.authorization.k8s.io/Role": { rules: null },
  "storage.k8s.io/VolumeAttachment": { spec: { attacher: "", nodeName: "", source: {} }, status: { attached: false } },
});

/** What an unset object of a built-in kind holds, for compileApplySchema; undefined for kinds that hold nothing. */
export function builtinZeroObject(group: string, kind: string): JsonObject | undefined {
  const key = `${group}/${kind}`;
  return Object.hasOwn(ZERO_OBJECTS, key) ? ZERO_OBJECTS[key] : undefined;
}
