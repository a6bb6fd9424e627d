import { templateMetadata } from "../schema/common.ts";
import { anything, array, boolean, integer, map, object, optional, string } from "../schema/schema.ts";

const limit = optional(integer({ format: "int64" }));
const any = (doc: string) => optional(anything({ doc }));

const rule = object({
  rule: string({ doc: "CEL expression.", minLength: 1, maxLength: 4096 }),
  message: optional(string({ doc: "What to say when it fails.", minLength: 1, maxLength: 512 })),
  messageExpression: optional(string({ doc: "CEL expression of the message.", minLength: 1, maxLength: 1024 })),
  reason: optional(
    string({
      doc: "Kind of the problem.",
      enum: ["FieldValueInvalid", "FieldValueForbidden", "FieldValueRequired", "FieldValueDuplicate"],
      default: "FieldValueInvalid",
    }),
  ),
  fieldPath: optional(string({ doc: "Field it is about.", minLength: 1, maxLength: 512 })),
});

/** The part of OpenAPI that variables of classes may use; nested schemas are not described further, as upstream has it. */
const variableSchema = object(
  {
    type: optional(string({ enum: ["object", "array", "string", "integer", "number", "boolean"] })),
    description: optional(string({ minLength: 1, maxLength: 4096 })),
    example: any("An example."),
    default: any("The value if none is given."),
    enum: optional(array(anything(), { doc: "Allowed values.", maxItems: 100, listType: "atomic" })),
    format: optional(string({ minLength: 1, maxLength: 32 })),
    pattern: optional(string({ minLength: 1, maxLength: 512 })),
    minLength: limit,
    maxLength: limit,
    minimum: limit,
    maximum: limit,
    exclusiveMinimum: optional(boolean()),
    exclusiveMaximum: optional(boolean()),
    minItems: limit,
    maxItems: limit,
    uniqueItems: optional(boolean()),
    minProperties: limit,
    maxProperties: limit,
    properties: any("Schemas of fields."),
    additionalProperties: any("Schema of values of a map."),
    items: any("Schema of items."),
    required: optional(
      array(string({ minLength: 1, maxLength: 256 }), { minItems: 1, maxItems: 1000, listType: "atomic" }),
    ),
    allOf: any("All must hold."),
    anyOf: any("One must hold."),
    oneOf: any("Exactly one must hold."),
    not: any("Must not hold."),
    "x-kubernetes-preserve-unknown-fields": optional(boolean()),
    "x-kubernetes-int-or-string": optional(boolean()),
    "x-kubernetes-validations": optional(
      array(rule, { doc: "CEL rules.", minItems: 1, maxItems: 100, listType: "map", keys: ["rule"] }),
    ),
    "x-metadata": optional(templateMetadata),
  },
  { minProperties: 1 },
);

const legacyMetadata = optional(
  object(
    { labels: optional(map(string())), annotations: optional(map(string())) },
    { doc: "Metadata of v1beta1, without use.", minProperties: 1 },
  ),
);

/** What a class says of one variable. */
const definition = {
  required: boolean({ doc: "Whether a Cluster must give a value." }),
  deprecatedV1Beta1Metadata: legacyMetadata,
  schema: object({ openAPIV3Schema: variableSchema }),
};

const name = string({ doc: "Name of the variable.", minLength: 1, maxLength: 256 });

/** `ClusterClass.spec.variables`. */
export const classVariables = array(object({ name, ...definition }), {
  doc: "Variables that Clusters give values for.",
  minItems: 1,
  maxItems: 1000,
  listType: "atomic",
});

/** `ClusterClass.status.variables`: from the class itself and from extensions. */
export const variablesStatus = array(
  object({
    name,
    definitionsConflict: optional(boolean({ doc: "Whether definitions differ." })),
    definitions: array(
      object({
        from: string({ doc: "inline, or the patch it comes from.", minLength: 1, maxLength: 256 }),
        ...definition,
      }),
      { minItems: 1, maxItems: 100, listType: "atomic" },
    ),
  }),
  { maxItems: 1000, listType: "atomic" },
);
