import { isReason, parseGroupVersion } from "@capstan/apimachinery";
import {
  type ContractObject,
  type ContractReference,
  type ContractVersion,
  CustomResourceDefinition,
  resolveKind,
} from "@capstan/capi";
import type { Cache, Kind, MapFunction, ReconcileContext } from "@capstan/runtime";
import type { Referenced } from "../cluster/cluster-scope.ts";
import { referenceKey } from "../cluster/indexes.ts";

export type { Referenced } from "../cluster/cluster-scope.ts";

/** A kind that can be read from the cache, or why not. */
export type WatchedKind = { kind: Kind<ContractObject>; contract: ContractVersion } | { problem: string };

/**
 * Lets the controller watch a kind, in the version its CRD offers for the contract. Never throws because of what a user wrote: a
 * kind that leads nowhere is a state of its own.
 */
export async function watchKind(
  context: ReconcileContext,
  reference: Pick<ContractReference, "apiGroup" | "kind">,
  map: MapFunction<ContractObject>,
): Promise<WatchedKind> {
  const resolved = resolveKind(context.cache, reference);
  if ("problem" in resolved) return resolved;
  try {
    await context.watch(resolved.kind, map);
    return resolved;
  } catch (error) {
    // A kind whose CRD has just appeared or is being removed; the CRD's next change brings us back.
    if (!isReason(error, "NotFound", "Forbidden", "MethodNotAllowed")) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    return { problem: `cannot watch ${reference.kind}: ${reason}` };
  }
}

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
