import type { Unstructured } from "@capstan/apimachinery";

/** What `as=PartialObjectMetadata` answers: the object without anything but its metadata. */
export function partialObject(object: Unstructured): Unstructured {
  return { kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1", metadata: object.metadata };
}
