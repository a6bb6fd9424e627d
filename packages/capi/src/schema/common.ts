import { API_VERSION, CONDITION_TYPE, KIND, LABEL, SUBDOMAIN } from "./patterns.ts";
import { array, boolean, integer, map, object, optional, string, time } from "./schema.ts";

/** metav1.Condition. */
export const condition = object(
  {
    type: string({ doc: "Type of the condition.", maxLength: 316, pattern: CONDITION_TYPE }),
    status: string({ doc: "Status of the condition.", enum: ["True", "False", "Unknown"] }),
    observedGeneration: optional(
      integer({ doc: "Generation that the condition was computed from.", minimum: 0, format: "int64" }),
    ),
    lastTransitionTime: time({ doc: "When the status last changed." }),
    reason: string({
      doc: "Machine-readable reason, in CamelCase.",
      minLength: 1,
      maxLength: 1024,
      pattern: "^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$",
    }),
    message: string({ doc: "Human-readable explanation, and what to do.", maxLength: 32768 }),
  },
  { doc: "One observation of an object's state." },
);

/** `status.conditions` of every kind. */
export const conditions = array(condition, {
  doc: "Conditions of the object.",
  listType: "map",
  keys: ["type"],
  maxItems: 32,
});

/** `status.observedGeneration` of every kind. */
export const observedGeneration = integer({
  doc: "Generation of the spec that the status was computed from.",
  format: "int64",
  minimum: 1,
});

/** Name of an object in the same namespace. */
export const objectName = (doc: string) => string({ doc, minLength: 1, maxLength: 253, pattern: SUBDOMAIN });

const kindName = string({ doc: "Kind of the object.", minLength: 1, maxLength: 63, pattern: KIND });

/** A reference whose version is chosen through contract labels. */
export const contractReference = object(
  {
    apiGroup: string({ doc: "API group of the object.", minLength: 1, maxLength: 253, pattern: SUBDOMAIN }),
    kind: kindName,
    name: objectName("Name of the object, in the same namespace."),
  },
  { doc: "Reference to an object in the same namespace; the contract labels of its CRD select the API version." },
);

/** group/version of a referenced object. */
export const apiVersion = string({
  doc: "API group and version of the object.",
  minLength: 1,
  maxLength: 317,
  pattern: API_VERSION,
});

/** A reference that names its version too: templates of classes and remediation. */
export const versionedReference = object(
  { apiVersion, kind: kindName, name: objectName("Name of the object.") },
  { doc: "Reference to an object, with its API version." },
);

/** What a class's patch selects by. */
export const versionedKind = { apiVersion, kind: kindName };

/** Name of a namespace. */
export const namespaceName = (doc: string) => string({ doc, minLength: 1, maxLength: 63, pattern: LABEL });

/** The Cluster that an object belongs to. */
export const clusterName = string({
  doc: "Cluster that the object belongs to; immutable.",
  minLength: 1,
  maxLength: 63,
});

/** Labels and annotations that a template passes on. */
export const templateMetadata = object(
  {
    labels: optional(map(string(), { doc: "Labels to set." })),
    annotations: optional(map(string(), { doc: "Annotations to set." })),
  },
  { doc: "Metadata of the objects that are created from the template.", minProperties: 1 },
);

/** Where machines can be placed so that they do not fail together. */
export const failureDomain = object(
  {
    name: string({ doc: "Name of the failure domain.", minLength: 1, maxLength: 256 }),
    controlPlane: optional(boolean({ doc: "Whether control plane machines may be placed here." })),
    attributes: optional(map(string(), { doc: "Free attributes of the provider." })),
  },
  { doc: "A failure domain that Machines can be placed in." },
);

/** metav1.LabelSelector. */
export const labelSelector = object(
  {
    matchLabels: optional(map(string(), { doc: "Labels that must have these values." })),
    matchExpressions: optional(
      array(
        object(
          {
            key: string({ doc: "Key of the label." }),
            operator: string({
              doc: "How the label is compared.",
              enum: ["In", "NotIn", "Exists", "DoesNotExist"],
            }),
            values: optional(array(string(), { doc: "Values that the label is compared with.", listType: "atomic" })),
          },
          { doc: "One requirement on a label." },
        ),
        { doc: "Further requirements.", listType: "atomic" },
      ),
    ),
  },
  { doc: "Selects objects by their labels.", mapType: "atomic" },
);
