import type { JSONSchemaProps, ObjectMeta, Unstructured } from "@capstan/apimachinery";

/** apiextensions.k8s.io/v1 CustomResourceDefinition, as far as the server reads it. */
export interface CustomResourceDefinition extends Unstructured {
  metadata: ObjectMeta;
  spec: CrdSpec;
  status?: CrdStatus;
}

/** spec of a CRD. */
export interface CrdSpec {
  group: string;
  names: CrdNames;
  scope: string;
  versions: CrdVersion[];
  conversion?: CrdConversion;
  preserveUnknownFields?: boolean;
}

/** The names a CRD requests, or has been granted. */
export interface CrdNames {
  plural: string;
  singular?: string;
  kind: string;
  listKind?: string;
  shortNames?: string[];
  categories?: string[];
}

/** One version of a CRD. */
export interface CrdVersion {
  name: string;
  served: boolean;
  storage: boolean;
  deprecated?: boolean;
  deprecationWarning?: string;
  schema?: { openAPIV3Schema?: JSONSchemaProps };
  subresources?: {
    status?: object;
    scale?: { specReplicasPath: string; statusReplicasPath: string; labelSelectorPath?: string };
  };
  additionalPrinterColumns?: CrdColumn[];
  selectableFields?: { jsonPath: string }[];
}

/** One additional printer column. */
export interface CrdColumn {
  name: string;
  type: string;
  format?: string;
  description?: string;
  priority?: number;
  jsonPath: string;
}

/** How versions are converted into each other. */
export interface CrdConversion {
  strategy: string;
  webhook?: {
    clientConfig?: {
      url?: string;
      service?: { namespace: string; name: string; path?: string; port?: number };
      caBundle?: string;
    };
    conversionReviewVersions?: string[];
  };
}

/** status of a CRD. */
export interface CrdStatus {
  conditions?: CrdCondition[];
  acceptedNames?: CrdNames;
  storedVersions?: string[];
}

/** A condition of a CRD: like metav1.Condition without observedGeneration. */
export interface CrdCondition {
  type: string;
  status: "True" | "False" | "Unknown";
  lastTransitionTime?: string;
  reason?: string;
  message?: string;
}

/** Finalizer that keeps a deleted CRD until its instances are deleted. */
export const CLEANUP_FINALIZER = "customresourcecleanup.apiextensions.k8s.io";

/** Where CRDs are stored. */
export const CRD_KEY = { group: "apiextensions.k8s.io", plural: "customresourcedefinitions" } as const;

/** Whether a condition is True. */
export function isConditionTrue(crd: CustomResourceDefinition, type: string): boolean {
  return crd.status?.conditions?.some((c) => c.type === type && c.status === "True") ?? false;
}

/** Conditions with one set; its time moves only when its status does. */
export function withCondition(conditions: readonly CrdCondition[], next: CrdCondition, now: string): CrdCondition[] {
  const old = conditions.find((c) => c.type === next.type);
  const lastTransitionTime =
    old?.status === next.status && old.lastTransitionTime !== undefined ? old.lastTransitionTime : now;
  const { type, status, reason, message } = next;
  const made: CrdCondition = { type, status, lastTransitionTime };
  if (reason !== undefined) made.reason = reason;
  if (message !== undefined) made.message = message;
  return old === undefined ? [...conditions, made] : conditions.map((c) => (c === old ? made : c));
}
