import { parseGroupVersion } from "@capstan/apimachinery";
import { type ContractObject, type ContractReference, CustomResourceDefinition, watchKind } from "@capstan/capi";
import type { Cache, MapFunction, ReconcileContext } from "@capstan/runtime";
import type { Referenced } from "../cluster/cluster-scope.ts";
import { referenceKey } from "../cluster/indexes.ts";

export type { Referenced } from "../cluster/cluster-scope.ts";

/** Reads a referenced object and starts a watch of its kind. */
export async function readReference(
  context: ReconcileContext,
  namespace: string,
  reference: ContractReference | undefined,
  map: MapFunction<ContractObject>,
): Promise<Referenced> {
  if (reference === undefined) return { state: "none" };
  const watched = await watchKind(context, reference, map);
  if ("problem" in watched) return { state: "unresolved", reference, message: watched.problem };
  const object = context.cache.get(watched.kind, { namespace, name: reference.name });
  if (object === undefined) return { state: "missing", reference };
  return { state: "found", reference, kind: watched.kind, object, contract: watched.contract };
}

/** Returns the index key under which objects that reference this one are found. */
export function referrersKey(object: ContractObject): string {
  return referenceKey(object.metadata.namespace ?? "", {
    apiGroup: parseGroupVersion(object.apiVersion).group,
    kind: object.kind,
    name: object.metadata.name ?? "",
  });
}

/** Reports whether the CRD of a referenced kind exists; without it, objects of that kind cannot exist. */
export function hasDefinition(cache: Cache, reference: ContractReference): boolean {
  return cache
    .list(CustomResourceDefinition)
    .some((crd) => crd.spec.group === reference.apiGroup && crd.spec.names.kind === reference.kind);
}

/** Formats a reference for messages, such as `MemoryMachine c1-abcde`. */
export function referenceText(reference: ContractReference): string {
  return `${reference.kind} ${reference.name}`;
}
