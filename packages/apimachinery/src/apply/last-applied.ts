import { isObject } from "../json.ts";
import { compareObjects } from "./compare.ts";
import type { Versioned } from "./field-manager.ts";
import { difference, type FieldSet, LEAF } from "./field-set.ts";
import { statedFields } from "./owned-fields.ts";

/** The annotation in which kubectl's client-side apply keeps what was applied last. */
export const LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";

/** Fields whose live value is still what client-side apply set: server-side apply by kubectl may take them over. */
export function allowedByLastApplied(live: Versioned): FieldSet {
  const metadata = live.object["metadata"];
  const annotations = isObject(metadata) ? metadata["annotations"] : undefined;
  const text = isObject(annotations) ? annotations[LAST_APPLIED] : undefined;
  const applied = typeof text === "string" ? parse(text) : undefined;
  if (!isObject(applied) || applied["apiVersion"] !== live.apiVersion) return LEAF;
  const { root } = live.schema;
  const { modified, added, removed } = compareObjects(root, applied, live.object);
  return difference(difference(difference(statedFields(root, applied).owned, modified), added), removed);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
