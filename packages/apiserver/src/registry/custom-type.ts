import type { Unstructured } from "@capstan/apimachinery";
import type { ResourceType } from "../types.ts";

/** How objects of a CRD get from one version to another. */
export type VersionConverter =
  | { readonly async: false; convert(object: Unstructured, toApiVersion: string): Unstructured }
  /** A webhook: one call converts many. */
  | { readonly async: true; convert(objects: readonly Unstructured[], toApiVersion: string): Promise<Unstructured[]> };

/** A resource that comes from a CRD. */
export interface CustomResourceType extends ResourceType {
  readonly custom: {
    readonly crdName: string;
    /** Revision of the CRD. Objects written later went through exactly this schema and need no treatment when read. */
    readonly epoch: number;
    readonly converter: VersionConverter;
    /** The CRD is being deleted: nothing new may be created. */
    readonly terminating: boolean;
    /** `spec.preserveUnknownFields` of converted v1beta1 CRDs: nothing is pruned. */
    readonly preserveUnknownFields: boolean;
    /** Schema of the storage version, to default objects that come from disk. */
    readonly storageSchema: ResourceType["schema"];
  };
}

/** Whether a type comes from a CRD. */
export function isCustom(type: ResourceType): type is CustomResourceType {
  return "custom" in type;
}
