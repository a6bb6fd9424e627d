import { isObject } from "@capstan/apimachinery";
import {
  type Codec,
  type ConversionRule,
  deprecatedStatus,
  FAILURE,
  newOnly,
  OBJECT_REFERENCE,
  object,
  optional,
  string,
  time,
} from "@capstan/capi";

/** Printer column with the age of an object. */
export const AGE_COLUMN = { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" } as const;
/** Printer column with the name of an object's Cluster. */
export const CLUSTER_COLUMN = {
  name: "Cluster",
  type: "string",
  jsonPath: String.raw`.metadata.labels['cluster\.x-k8s\.io/cluster-name']`,
} as const;

/** Returns the schema of a reference by name and namespace whose field implies the kind. */
export const metal3Reference = (doc: string) =>
  object(
    {
      name: optional(string({ doc: "Name of the object.", minLength: 1, maxLength: 253 })),
      namespace: optional(string({ doc: "Its namespace; must be the same.", minLength: 1, maxLength: 63 })),
    },
    { doc, minProperties: 1 },
  );

/** Schema of the field that selects the object that a value is read from. */
export const sourceObject = string({
  doc: "Object that the value is read from.",
  enum: ["machine", "metal3machine", "baremetalhost"],
});
/** The object that a value of a data template is read from. */
export type SourceObject = "machine" | "metal3machine" | "baremetalhost";

/** Status fields that Metal3Cluster and Metal3Machine have in addition to the contract. */
export const sharedStatus = {
  lastUpdated: optional(time({ doc: "When the status last changed, as earlier versions wrote it." })),
  deprecated: optional(deprecatedStatus),
};

/** Conversion rules between v1beta1 and v1beta2 of the shared status fields. */
export const SHARED_STATUS_RULES: readonly ConversionRule[] = [...FAILURE, newOnly("status.deprecated")];

/** Converts references: corev1.ObjectReference in v1beta1, name and namespace in v1beta2. */
export const objectReferenceCodec: Codec = {
  up: (old) => (isObject(old) ? nameOf(old) : undefined),
  down: (value) => (isObject(value) ? nameOf(value) : undefined),
  schema: () => OBJECT_REFERENCE,
};

function nameOf({ name, namespace }: Record<string, unknown>): Record<string, unknown> {
  return { name, namespace };
}
