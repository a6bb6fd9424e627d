/** The fields that all Kubernetes objects have. Stored and cached objects are deep-frozen and shared: copy them before changing them. */
export interface KubeObject {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
}

/** A KubeObject whose other fields are not known at compile time. */
export interface Unstructured extends KubeObject {
  [field: string]: unknown;
}

/** metav1.ObjectMeta: the metadata of an object. */
export interface ObjectMeta {
  name?: string;
  generateName?: string;
  namespace?: string;
  uid?: string;
  resourceVersion?: string;
  generation?: number;
  creationTimestamp?: string;
  deletionTimestamp?: string;
  deletionGracePeriodSeconds?: number;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  ownerReferences?: OwnerReference[];
  finalizers?: string[];
  managedFields?: ManagedFieldsEntry[];
}

/** metav1.OwnerReference: an owner of an object; the garbage collector deletes objects whose owners are all deleted. */
export interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
  blockOwnerDeletion?: boolean;
}

/** metav1.ManagedFieldsEntry: the fields that one manager owns, for server-side apply. */
export interface ManagedFieldsEntry {
  manager?: string;
  operation?: "Apply" | "Update";
  apiVersion?: string;
  time?: string;
  fieldsType?: string;
  fieldsV1?: Record<string, unknown>;
  subresource?: string;
}

/** metav1.Condition: one aspect of an object's state, as its controller last observed it. */
export interface Condition {
  type: string;
  status: "True" | "False" | "Unknown";
  observedGeneration?: number;
  lastTransitionTime: string;
  reason: string;
  message: string;
}

/** metav1.ListMeta: the resourceVersion of a list and, if it is one page of many, how to continue. */
export interface ListMeta {
  resourceVersion?: string;
  continue?: string;
  remainingItemCount?: number;
}

/** A list of objects as the API server returns it, such as a PodList. */
export interface KubeList<T extends KubeObject = Unstructured> {
  apiVersion: string;
  kind: string;
  metadata: ListMeta;
  items: T[];
}

/** Identifies a kind in one API version. */
export interface GroupVersionKind {
  group: string;
  version: string;
  kind: string;
}

/** Identifies a resource, the plural name in URL paths, in one API version. */
export interface GroupVersionResource {
  group: string;
  version: string;
  resource: string;
}
