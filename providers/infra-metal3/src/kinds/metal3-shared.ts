import { isObject } from "@capstan/apimachinery";
import {
  type Codec,
  type ConversionRule,
  deprecatedStatus,
  FAILURE,
  newOnly,
  object,
  optional,
  string,
  time,
} from "@capstan/capi";

/** Columns that all kinds of this provider show. */
export const AGE_COLUMN = { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" } as const;
export const CLUSTER_COLUMN = {
  name: "Cluster",
  type: "string",
  jsonPath: String.raw`.metadata.labels['cluster\.x-k8s\.io/cluster-name']`,
} as const;

/** An object of a kind that the field itself says. */
export const metal3Reference = (doc: string) =>
  object(
    {
      name: optional(string({ doc: "Name of the object.", minLength: 1, maxLength: 253 })),
      namespace: optional(string({ doc: "Its namespace; must be the same.", minLength: 1, maxLength: 63 })),
    },
    { doc, minProperties: 1 },
  );

/** Which of the three objects a value is read from. */
export const sourceObject = string({
  doc: "Which object it is read from.",
  enum: ["machine", "metal3machine", "baremetalhost"],
});
export type SourceObject = "machine" | "metal3machine" | "baremetalhost";

/** Fields of status that clusters and machines share beyond the contract. */
export const sharedStatus = {
  lastUpdated: optional(time({ doc: "When the status last changed, as earlier versions wrote it." })),
  deprecated: optional(deprecatedStatus),
};

/** What v1beta1 calls differently in those. */
export const SHARED_STATUS_RULES: readonly ConversionRule[] = [...FAILURE, newOnly("status.deprecated")];

const text = { type: "string" } as const;

/** corev1.ObjectReference in v1beta1, name and namespace in v1beta2. */
export const objectReferenceCodec: Codec = {
  up: (old) => (isObject(old) ? nameOf(old) : undefined),
  down: (value) => (isObject(value) ? nameOf(value) : undefined),
  schema: () => ({
    type: "object",
    properties: {
      apiVersion: text,
      fieldPath: text,
      kind: text,
      name: text,
      namespace: text,
      resourceVersion: text,
      uid: text,
    },
    "x-kubernetes-map-type": "atomic",
  }),
};

function nameOf({ name, namespace }: Record<string, unknown>): Record<string, unknown> {
  return { ...(name === undefined ? {} : { name }), ...(namespace === undefined ? {} : { namespace }) };
}
