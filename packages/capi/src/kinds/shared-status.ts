import { array, integer, object, optional, type Schema, string, time } from "../schema/schema.ts";

/** How many replicas run which version, oldest first. */
export const versionCounts = array(
  object({ version: string({ maxLength: 256 }), replicas: optional(integer({ minimum: 0 })) }),
  {
    doc: "Versions in use, oldest first.",
    maxItems: 100,
    listType: "map",
    keys: ["version"],
  },
);

/** Conditions as v1beta1 had them: with a severity, without limits on their number. */
export const legacyConditions = array(
  object({
    type: string({ minLength: 1, maxLength: 256 }),
    status: string(),
    severity: optional(string({ maxLength: 32 })),
    lastTransitionTime: time(),
    reason: optional(string({ minLength: 1, maxLength: 256 })),
    message: optional(string({ minLength: 1, maxLength: 10240 })),
  }),
  { doc: "Conditions of v1beta1." },
);

/** Why an object failed for good, in v1beta1. */
export const legacyFailure = {
  failureReason: optional(string()),
  failureMessage: optional(string({ minLength: 1, maxLength: 10240 })),
};

/** `status.deprecated`: what v1beta1 had and v1beta2 has not. */
export const deprecatedWith = <F extends Record<string, Schema>>(fields: F) =>
  object({
    v1beta1: optional(
      object({ conditions: optional(legacyConditions), ...fields }, { doc: "What v1beta1 had and v1beta2 has not." }),
    ),
  });

/** `status.deprecated` of kinds that could fail for good. */
export const deprecatedStatus = deprecatedWith(legacyFailure);

/** `status.deprecated` of kinds that had conditions only. */
export const deprecatedConditions = deprecatedWith({});
