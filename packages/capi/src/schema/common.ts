import { boolean, integer, map, object, optional, string, time } from "./schema.ts";

/** metav1.Condition. */
export const condition = object(
  {
    type: string({
      doc: "What the condition is about.",
      maxLength: 316,
      pattern: String.raw`^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$`,
    }),
    status: string({ doc: "Whether it holds.", enum: ["True", "False", "Unknown"] }),
    observedGeneration: optional(
      integer({ doc: "Generation the condition was computed from.", minimum: 0, format: "int64" }),
    ),
    lastTransitionTime: time({ doc: "When the status last changed." }),
    reason: string({
      doc: "Why, for programs.",
      minLength: 1,
      maxLength: 1024,
      pattern: "^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$",
    }),
    message: string({ doc: "Why, for people, and what to do.", maxLength: 32768 }),
  },
  { doc: "One observation of an object's state." },
);

/** A reference whose version is chosen through contract labels. */
export const contractReference = object({
  apiGroup: string({ doc: "API group of the object.", minLength: 1, maxLength: 253 }),
  kind: string({
    doc: "Kind of the object.",
    minLength: 1,
    maxLength: 63,
    pattern: "^[a-zA-Z]([-a-zA-Z0-9]*[a-zA-Z0-9])?$",
  }),
  name: string({ doc: "Name of the object, in the same namespace.", minLength: 1, maxLength: 253 }),
});

/** Labels and annotations that a template hands on. */
export const templateMetadata = object(
  {
    labels: optional(map(string(), { doc: "Labels to set." })),
    annotations: optional(map(string(), { doc: "Annotations to set." })),
  },
  { doc: "Metadata of the objects made from the template." },
);

export const failureDomain = object({
  name: string({ doc: "Name of the failure domain.", minLength: 1, maxLength: 256 }),
  controlPlane: optional(boolean({ doc: "Whether control plane machines may be placed here." })),
  attributes: optional(map(string(), { doc: "Free attributes of the provider." })),
});
