import { templateMetadata } from "../schema/common.ts";
import { anything, array, boolean, documented, integer, map, object, optional, string } from "../schema/schema.ts";

const limit = optional(integer({ format: "int64" }));
const any = (doc: string) => optional(anything({ doc }));

const rule = object(
  {
    rule: string({ doc: "CEL expression.", minLength: 1, maxLength: 4096 }),
    message: optional(string({ doc: "Message if validation fails.", minLength: 1, maxLength: 512 })),
    messageExpression: optional(string({ doc: "CEL expression of the message.", minLength: 1, maxLength: 1024 })),
    reason: optional(
      string({
        doc: "Kind of the problem.",
        enum: ["FieldValueInvalid", "FieldValueForbidden", "FieldValueRequired", "FieldValueDuplicate"],
        default: "FieldValueInvalid",
      }),
    ),
    fieldPath: optional(string({ doc: "Field it is about.", minLength: 1, maxLength: 512 })),
  },
  { doc: "One CEL validation rule." },
);

/** The part of OpenAPI that variables of classes may use; nested schemas are not described further, as upstream has it. */
const variableSchema = object(
  {
    type: optional(
      string({ doc: "JSON type of the value.", enum: ["object", "array", "string", "integer", "number", "boolean"] }),
    ),
    description: optional(string({ doc: "Description of the variable.", minLength: 1, maxLength: 4096 })),
    example: any("An example."),
    default: any("Value if none is set."),
    enum: optional(array(anything(), { doc: "Allowed values.", maxItems: 100, listType: "atomic" })),
    format: optional(
      string({ doc: "Format of the value, such as date-time, as CRD schemas define it.", minLength: 1, maxLength: 32 }),
    ),
    pattern: optional(string({ doc: "Regular expression that a string must match.", minLength: 1, maxLength: 512 })),
    minLength: documented(limit, "Minimum length of a string."),
    maxLength: documented(limit, "Maximum length of a string."),
    minimum: documented(limit, "Minimum of a number; inclusive unless exclusiveMinimum is true."),
    maximum: documented(limit, "Maximum of a number; inclusive unless exclusiveMaximum is true."),
    exclusiveMinimum: optional(boolean({ doc: "Whether the value must be greater than minimum." })),
    exclusiveMaximum: optional(boolean({ doc: "Whether the value must be less than maximum." })),
    minItems: documented(limit, "Minimum number of items of an array."),
    maxItems: documented(limit, "Maximum number of items of an array."),
    uniqueItems: optional(boolean({ doc: "Whether the items of an array must be unique." })),
    minProperties: documented(limit, "Minimum number of fields of an object."),
    maxProperties: documented(limit, "Maximum number of fields of an object."),
    properties: any("Schemas of fields."),
    additionalProperties: any("Schema of values of a map."),
    items: any("Schema of items."),
    required: optional(
      array(string({ minLength: 1, maxLength: 256 }), {
        doc: "Names of the fields that an object must have.",
        minItems: 1,
        maxItems: 1000,
        listType: "atomic",
      }),
    ),
    allOf: any("The value must match all of these schemas."),
    anyOf: any("The value must match at least one of these schemas."),
    oneOf: any("The value must match exactly one of these schemas."),
    not: any("The value must not match this schema."),
    "x-kubernetes-preserve-unknown-fields": optional(
      boolean({ doc: "Whether fields that the schema does not list are kept; by default they are rejected." }),
    ),
    "x-kubernetes-int-or-string": optional(boolean({ doc: "Whether the value is either an integer or a string." })),
    "x-kubernetes-validations": optional(
      array(rule, { doc: "CEL rules.", minItems: 1, maxItems: 100, listType: "map", keys: ["rule"] }),
    ),
    "x-metadata": optional(templateMetadata),
  },
  { doc: "OpenAPI schema that values of the variable must match.", minProperties: 1 },
);

const legacyMetadata = optional(
  object(
    {
      labels: optional(map(string(), { doc: "Labels of the variable in v1beta1." })),
      annotations: optional(map(string(), { doc: "Annotations of the variable in v1beta1." })),
    },
    { doc: "Metadata of v1beta1, without use.", minProperties: 1 },
  ),
);

/** What a class says of one variable. */
const definition = {
  required: boolean({ doc: "Whether a Cluster must set a value." }),
  deprecatedV1Beta1Metadata: legacyMetadata,
  schema: object({ openAPIV3Schema: variableSchema }, { doc: "Schema of the variable." }),
};

const name = string({ doc: "Name of the variable.", minLength: 1, maxLength: 256 });

/** `ClusterClass.spec.variables`. */
export const classVariables = array(object({ name, ...definition }, { doc: "Definition of one variable." }), {
  doc: "Variables whose values Clusters set.",
  minItems: 1,
  maxItems: 1000,
  listType: "atomic",
});

/** `ClusterClass.status.variables`: from the class itself and from extensions. */
export const variablesStatus = array(
  object(
    {
      name,
      definitionsConflict: optional(boolean({ doc: "Whether definitions differ." })),
      definitions: array(
        object(
          {
            from: string({ doc: "inline, or the patch it comes from.", minLength: 1, maxLength: 256 }),
            ...definition,
          },
          { doc: "Definition of the variable by one source." },
        ),
        { doc: "Definitions of the variable, one for each source.", minItems: 1, maxItems: 100, listType: "atomic" },
      ),
    },
    { doc: "All definitions of one variable." },
  ),
  { doc: "Variables that the class and its extensions define.", maxItems: 1000, listType: "atomic" },
);
