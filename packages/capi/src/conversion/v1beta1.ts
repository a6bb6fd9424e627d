import type { KindVersion, PrinterColumnDefinition } from "../schema/kind.ts";
import type { Schema } from "../schema/schema.ts";
import { spokeConverter } from "./converter.ts";
import type { Rule } from "./rules.ts";
import { deriveSchema, loosened } from "./spoke-schema.ts";

/** v1beta1 of a kind, served in addition to the stored v1beta2: schema and conversion both come from the list of differences. */
export function v1beta1(
  group: string,
  kind: string,
  stored: Schema,
  options: { rules: readonly Rule[]; columns: readonly PrinterColumnDefinition[] },
): KindVersion {
  const { required: _, ...json } = loosened(deriveSchema(stored.json, options.rules));
  const converter = spokeConverter(options.rules, stored.json, json);
  return {
    name: "v1beta1",
    schema: { json, optional: false },
    columns: [...options.columns],
    deprecated: `${group}/v1beta1 ${kind} is deprecated; use ${group}/v1beta2 ${kind}`,
    convert: {
      toStored: (object, apiVersionOf) => converter.toStored(object, `${group}/v1beta2`, apiVersionOf),
      fromStored: (object, apiVersionOf) => converter.fromStored(object, `${group}/v1beta1`, apiVersionOf),
    },
  };
}
