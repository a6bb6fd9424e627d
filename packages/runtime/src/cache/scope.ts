import { type KubeObject, parseFieldSelector, parseLabelSelector } from "@capstan/apimachinery";
import type { InformerScope } from "./reflector.ts";

const KNOWN_FIELDS = ["metadata.name", "metadata.namespace"];

/**
 * Returns a filter for objects that are certainly in an informer's scope. It accepts none if the scope selects by fields other than name
 * and namespace, which only the server can evaluate.
 */
export function scopeFilter(scope: InformerScope): (object: KubeObject) => boolean {
  const labels = scope.labelSelector === undefined ? undefined : parseLabelSelector(scope.labelSelector);
  const fields = scope.fieldSelector === undefined ? undefined : parseFieldSelector(scope.fieldSelector);
  const unknown = fields?.requirements.some(({ field }) => !KNOWN_FIELDS.includes(field)) ?? false;
  return ({ metadata }) => {
    if (unknown) return false;
    if (scope.namespace !== undefined && scope.namespace !== metadata.namespace) return false;
    if (labels !== undefined && !labels.matches(metadata.labels)) return false;
    return fields?.matches((field) => (field === "metadata.name" ? metadata.name : metadata.namespace)) ?? true;
  };
}
