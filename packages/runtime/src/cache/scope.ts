import { type KubeObject, parseFieldSelector, parseLabelSelector } from "@capstan/apimachinery";
import type { InformerScope } from "./reflector.ts";

const KNOWN_FIELDS = ["metadata.name", "metadata.namespace"];

/**
 * Whether an object surely belongs to what an informer holds, as far as that can be told here: labels, name and namespace.
 * Other fields are the server's to judge.
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
