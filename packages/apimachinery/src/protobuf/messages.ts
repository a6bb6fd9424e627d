import { groupVersion } from "../gvk.ts";

/**
 * Field numbers of the messages clients send, from the published .proto files. Notation: `number name:type`; `[]` repeated,
 * `map<T>` string keys, `?` a Go pointer, whose presence counts even when it is zero.
 */
const TABLES: Record<string, string> = {
  meta: `
Condition: 1 type:string, 2 status:string, 3 observedGeneration:int, 4 lastTransitionTime:Time, 5 reason:string, 6 message:string
CreateOptions: 1 dryRun:string[], 3 fieldManager:string, 4 fieldValidation:string
DeleteOptions: 1 gracePeriodSeconds:int?, 2 preconditions:Preconditions?, 3 orphanDependents:bool?, 4 propagationPolicy:string?, 5 dryRun:string[], 6 ignoreStoreReadErrorWithClusterBreakingPotential:bool?
FieldSelectorRequirement: 1 key:string, 2 operator:string, 3 values:string[]
LabelSelector: 1 matchLabels:map<string>, 2 matchExpressions:LabelSelectorRequirement[]
LabelSelectorRequirement: 1 key:string, 2 operator:string, 3 values:string[]
ManagedFieldsEntry: 1 manager:string, 2 operation:string, 3 apiVersion:string, 4 time:Time, 6 fieldsType:string, 7 fieldsV1:FieldsV1, 8 subresource:string
ObjectMeta: 1 name:string, 2 generateName:string, 3 namespace:string, 4 selfLink:string, 5 uid:string, 6 resourceVersion:string, 7 generation:int, 8 creationTimestamp:Time, 9 deletionTimestamp:Time, 10 deletionGracePeriodSeconds:int?, 11 labels:map<string>, 12 annotations:map<string>, 13 ownerReferences:OwnerReference[], 14 finalizers:string[], 17 managedFields:ManagedFieldsEntry[]
OwnerReference: 5 apiVersion:string, 1 kind:string, 3 name:string, 4 uid:string, 6 controller:bool?, 7 blockOwnerDeletion:bool?
PatchOptions: 1 dryRun:string[], 2 force:bool?, 3 fieldManager:string, 4 fieldValidation:string
Preconditions: 1 uid:string?, 2 resourceVersion:string?
UpdateOptions: 1 dryRun:string[], 2 fieldManager:string, 3 fieldValidation:string`,
  core: `
ConfigMap: 1 metadata:ObjectMeta, 4 immutable:bool?, 2 data:map<string>, 3 binaryData:map<bytes>
Event: 1 metadata:ObjectMeta, 2 involvedObject:ObjectReference, 3 reason:string, 4 message:string, 5 source:EventSource, 6 firstTimestamp:Time, 7 lastTimestamp:Time, 8 count:int, 9 type:string, 10 eventTime:MicroTime, 11 series:EventSeries?, 12 action:string, 13 related:ObjectReference?, 14 reportingComponent:string, 15 reportingInstance:string
EventSeries: 1 count:int, 2 lastObservedTime:MicroTime
EventSource: 1 component:string, 2 host:string
LocalObjectReference: 1 name:string
Namespace: 1 metadata:ObjectMeta, 2 spec:NamespaceSpec, 3 status:NamespaceStatus
NamespaceCondition: 1 type:string, 2 status:string, 4 lastTransitionTime:Time, 5 reason:string, 6 message:string
NamespaceSpec: 1 finalizers:string[]
NamespaceStatus: 1 phase:string, 2 conditions:NamespaceCondition[]
ObjectReference: 1 kind:string, 2 namespace:string, 3 name:string, 4 uid:string, 5 apiVersion:string, 6 resourceVersion:string, 7 fieldPath:string
Secret: 1 metadata:ObjectMeta, 5 immutable:bool?, 2 data:map<bytes>, 4 stringData:map<string>, 3 type:string
ServiceAccount: 1 metadata:ObjectMeta, 2 secrets:ObjectReference[], 3 imagePullSecrets:LocalObjectReference[], 4 automountServiceAccountToken:bool?`,
  "events.k8s.io": `
Event: 1 metadata:ObjectMeta, 2 eventTime:MicroTime, 3 series:EventSeries?, 4 reportingController:string, 5 reportingInstance:string, 6 action:string, 7 reason:string, 8 regarding:ObjectReference, 9 related:ObjectReference?, 10 note:string, 11 type:string, 12 deprecatedSource:EventSource, 13 deprecatedFirstTimestamp:Time, 14 deprecatedLastTimestamp:Time, 15 deprecatedCount:int`,
  "coordination.k8s.io": `
Lease: 1 metadata:ObjectMeta, 2 spec:LeaseSpec
LeaseSpec: 1 holderIdentity:string?, 2 leaseDurationSeconds:int?, 3 acquireTime:MicroTime, 4 renewTime:MicroTime, 5 leaseTransitions:int?, 6 strategy:string?, 7 preferredHolder:string?`,
  "rbac.authorization.k8s.io": `
AggregationRule: 1 clusterRoleSelectors:LabelSelector[]
ClusterRole: 1 metadata:ObjectMeta, 2 rules:PolicyRule[], 3 aggregationRule:AggregationRule?
ClusterRoleBinding: 1 metadata:ObjectMeta, 2 subjects:Subject[], 3 roleRef:RoleRef
PolicyRule: 1 verbs:string[], 2 apiGroups:string[], 3 resources:string[], 4 resourceNames:string[], 5 nonResourceURLs:string[]
Role: 1 metadata:ObjectMeta, 2 rules:PolicyRule[]
RoleBinding: 1 metadata:ObjectMeta, 2 subjects:Subject[], 3 roleRef:RoleRef
RoleRef: 1 apiGroup:string, 2 kind:string, 3 name:string
Subject: 1 kind:string, 2 apiGroup:string, 3 name:string, 4 namespace:string`,
  "authentication.k8s.io": `
BoundObjectReference: 1 kind:string, 2 apiVersion:string, 3 name:string, 4 uid:string
SelfSubjectReview: 1 metadata:ObjectMeta, 2 status:SelfSubjectReviewStatus
SelfSubjectReviewStatus: 1 userInfo:UserInfo
TokenRequest: 1 metadata:ObjectMeta, 2 spec:TokenRequestSpec, 3 status:TokenRequestStatus
TokenRequestSpec: 1 audiences:string[], 4 expirationSeconds:int?, 3 boundObjectRef:BoundObjectReference?
TokenRequestStatus: 1 token:string, 2 expirationTimestamp:Time
TokenReview: 1 metadata:ObjectMeta, 2 spec:TokenReviewSpec, 3 status:TokenReviewStatus
TokenReviewSpec: 1 token:string, 2 audiences:string[]
TokenReviewStatus: 1 authenticated:bool, 2 user:UserInfo, 4 audiences:string[], 3 error:string
UserInfo: 1 username:string, 2 uid:string, 3 groups:string[], 4 extra:map<ExtraValue>`,
  "authorization.k8s.io": `
FieldSelectorAttributes: 1 rawSelector:string, 2 requirements:FieldSelectorRequirement[]
LabelSelectorAttributes: 1 rawSelector:string, 2 requirements:LabelSelectorRequirement[]
LocalSubjectAccessReview: 1 metadata:ObjectMeta, 2 spec:SubjectAccessReviewSpec, 3 status:SubjectAccessReviewStatus
NonResourceAttributes: 1 path:string, 2 verb:string
NonResourceRule: 1 verbs:string[], 2 nonResourceURLs:string[]
ResourceAttributes: 1 namespace:string, 2 verb:string, 3 group:string, 4 version:string, 5 resource:string, 6 subresource:string, 7 name:string, 8 fieldSelector:FieldSelectorAttributes?, 9 labelSelector:LabelSelectorAttributes?
ResourceRule: 1 verbs:string[], 2 apiGroups:string[], 3 resources:string[], 4 resourceNames:string[]
SelfSubjectAccessReview: 1 metadata:ObjectMeta, 2 spec:SelfSubjectAccessReviewSpec, 3 status:SubjectAccessReviewStatus
SelfSubjectAccessReviewSpec: 1 resourceAttributes:ResourceAttributes?, 2 nonResourceAttributes:NonResourceAttributes?
SelfSubjectRulesReview: 1 metadata:ObjectMeta, 2 spec:SelfSubjectRulesReviewSpec, 3 status:SubjectRulesReviewStatus
SelfSubjectRulesReviewSpec: 1 namespace:string
SubjectAccessReview: 1 metadata:ObjectMeta, 2 spec:SubjectAccessReviewSpec, 3 status:SubjectAccessReviewStatus
SubjectAccessReviewSpec: 1 resourceAttributes:ResourceAttributes?, 2 nonResourceAttributes:NonResourceAttributes?, 3 user:string, 4 groups:string[], 5 extra:map<ExtraValue>, 6 uid:string
SubjectAccessReviewStatus: 1 allowed:bool, 4 denied:bool, 2 reason:string, 3 evaluationError:string
SubjectRulesReviewStatus: 1 resourceRules:ResourceRule[], 2 nonResourceRules:NonResourceRule[], 3 incomplete:bool, 4 evaluationError:string`,
  "certificates.k8s.io": `
CertificateSigningRequest: 1 metadata:ObjectMeta, 2 spec:CertificateSigningRequestSpec, 3 status:CertificateSigningRequestStatus
CertificateSigningRequestCondition: 1 type:string, 6 status:string, 2 reason:string, 3 message:string, 4 lastUpdateTime:Time, 5 lastTransitionTime:Time
CertificateSigningRequestSpec: 1 request:bytes, 7 signerName:string, 8 expirationSeconds:int?, 5 usages:string[], 2 username:string, 3 uid:string, 4 groups:string[], 6 extra:map<ExtraValue>
CertificateSigningRequestStatus: 1 conditions:CertificateSigningRequestCondition[], 2 certificate:bytes`,
  policy: `
Eviction: 1 metadata:ObjectMeta, 2 deleteOptions:DeleteOptions?`,
  autoscaling: `
Scale: 1 metadata:ObjectMeta, 2 spec:ScaleSpec, 3 status:ScaleStatus
ScaleSpec: 1 replicas:int
ScaleStatus: 1 replicas:int, 2 selector:string`,
};

/** How one field is decoded. */
export interface FieldDescriptor {
  readonly name: string;
  readonly type: string;
  readonly kind: "single" | "repeated" | "map";
  /** Kept even when zero or empty. */
  readonly pointer: boolean;
  /** The group whose messages the type's name is looked up in first. */
  readonly scope: string;
}

/** The fields of a message by number. */
export type MessageDescriptor = ReadonlyMap<number, FieldDescriptor>;

let parsed: Map<string, MessageDescriptor> | undefined;

function tables(): Map<string, MessageDescriptor> {
  if (parsed !== undefined) return parsed;
  parsed = new Map();
  for (const [scope, text] of Object.entries(TABLES)) {
    for (const line of text.trim().split("\n")) {
      const colon = line.indexOf(":");
      parsed.set(`${scope} ${line.slice(0, colon)}`, parseFields(line.slice(colon + 1), scope));
    }
  }
  return parsed;
}

function parseFields(text: string, scope: string): MessageDescriptor {
  const fields = new Map<number, FieldDescriptor>();
  for (const field of text.split(", ")) {
    const [, number = "", name = "", type = ""] = /^\s*(\d+) (\w+):(\S+)$/.exec(field) ?? [];
    const kind = type.startsWith("map<") ? "map" : type.endsWith("[]") ? "repeated" : "single";
    const bare = type.replace(/^map<(.*)>$/, "$1").replace(/\[\]$|\?$/, "");
    fields.set(Number(number), { name, type: bare, kind, pointer: type.endsWith("?"), scope });
  }
  return fields;
}

/** The message a field's type names: of its own group, else of core or meta. */
export function findMessage(scope: string, name: string): MessageDescriptor | undefined {
  const all = tables();
  return all.get(`${scope} ${name}`) ?? all.get(`core ${name}`) ?? all.get(`meta ${name}`);
}

/** The message of a kind, undefined when it is not known. Options may come with any group's version. */
export function findKind(apiVersion: string, kind: string): MessageDescriptor | undefined {
  const all = tables();
  if (kind.endsWith("Options")) return all.get(`meta ${kind}`);
  for (const group of Object.keys(TABLES)) {
    if (group === "meta") continue;
    const version = groupVersion(group === "core" ? "" : group, "v1");
    if (version === apiVersion) return all.get(`${group} ${kind}`);
  }
  return undefined;
}
