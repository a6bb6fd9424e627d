import { array, integer, object, openObject, optional, string } from "../schema/schema.ts";

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

/** Fields of the older API that some providers still read. */
export const deprecatedStatus = object({
  v1beta1: optional(openObject({ doc: "What v1beta1 had and v1beta2 has not." })),
});
