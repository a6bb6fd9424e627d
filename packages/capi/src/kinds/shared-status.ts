import { array, integer, object, optional, type Schema, string, time } from "../schema/schema.ts";

const versionCount = object(
  {
    version: string({ doc: "Kubernetes version.", minLength: 1, maxLength: 256 }),
    replicas: optional(integer({ doc: "Number of replicas that run this version.", minimum: 1 })),
  },
  { doc: "How many replicas run one version." },
);
const DOC = "Versions in use, oldest first.";

/** How many replicas run which version, oldest first. */
export const versionCounts = array(versionCount, {
  doc: DOC,
  minItems: 1,
  maxItems: 100,
  listType: "map",
  keys: ["version"],
});

/** How many replicas of all objects of a Cluster run which version. */
export const clusterVersionCounts = array(versionCount, { doc: DOC, minItems: 1, maxItems: 32 });

/** Conditions as v1beta1 had them: with a severity, without limits on their number. */
export const legacyConditions = array(
  object(
    {
      type: string({ doc: "Type of the condition.", minLength: 1, maxLength: 256 }),
      status: string({ doc: "Status of the condition: True, False or Unknown." }),
      severity: optional(
        string({ doc: "How serious the problem is when the status is False: Error, Warning or Info.", maxLength: 32 }),
      ),
      lastTransitionTime: time({ doc: "Time when the status last changed." }),
      reason: optional(
        string({ doc: "Machine-readable reason for the last change, in CamelCase.", minLength: 1, maxLength: 256 }),
      ),
      message: optional(string({ doc: "Human-readable details of the last change.", minLength: 1, maxLength: 10240 })),
    },
    { doc: "A condition in the format of v1beta1." },
  ),
  { doc: "Conditions of v1beta1." },
);

/** Why an object failed for good, in v1beta1. */
export const legacyFailure = {
  failureReason: optional(string({ doc: "Machine-readable reason of a failure that v1beta1 considers permanent." })),
  failureMessage: optional(
    string({
      doc: "Human-readable description of a failure that v1beta1 considers permanent.",
      minLength: 1,
      maxLength: 10240,
    }),
  ),
};

/** `status.deprecated`: fields of v1beta1 that v1beta2 lacks. */
export const deprecatedWith = <F extends Record<string, Schema>>(fields: F) =>
  object(
    {
      v1beta1: optional(
        object({ conditions: optional(legacyConditions), ...fields }, { doc: "Fields of v1beta1 that v1beta2 lacks." }),
      ),
    },
    { doc: "Fields that exist only for compatibility with older API versions." },
  );

/** `status.deprecated` of kinds that could fail for good. */
export const deprecatedStatus = deprecatedWith(legacyFailure);

/** `status.deprecated` of kinds that had conditions only. */
export const deprecatedConditions = deprecatedWith({});
