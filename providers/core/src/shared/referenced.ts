import { parseGroupVersion } from "@capstan/apimachinery";
import { type ContractObject, type ContractReference, CustomResourceDefinition, watchKind } from "@capstan/capi";
import type { Cache, MapFunction, ReconcileContext } from "@capstan/runtime";
import type { Referenced } from "../cluster/cluster-scope.ts";
import { referenceKey } from "../cluster/indexes.ts";

export type { Referenced } from "../cluster/cluster-scope.ts";

/** Reads what a reference names and watches its kind from now on. */
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

/** The index value under which those who refer to an object are filed. */
export function referrersKey(object: ContractObject): string {
  return referenceKey(object.metadata.namespace ?? "", {
    apiGroup: parseGroupVersion(object.apiVersion).group,
    kind: object.kind,
    name: object.metadata.name ?? "",
  });
}

/** Whether a kind is served at all: objects of a kind without CRD cannot exist any more. */
export function hasDefinition(cache: Cache, reference: ContractReference): boolean {
  return cache
    .list(CustomResourceDefinition)
    .some((crd) => crd.spec.group === reference.apiGroup && crd.spec.names.kind === reference.kind);
}

/** `MemoryMachine c1-abcde`, for messages. */
export function referenceText(reference: ContractReference): string {
  return `${reference.kind} ${reference.name}`;
}
