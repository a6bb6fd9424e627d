import { parseGroupVersion } from "@capstan/apimachinery";
import type { Cache, Kind, MapFunction, ReconcileContext } from "@capstan/runtime";
import { type ContractObject, CustomResourceDefinition } from "./builtin-kinds.ts";
import type { ContractVersion } from "./resolve-kind.ts";
import type { ContractReference } from "./types.ts";
import { watchKind } from "./watch-kind.ts";

/** An object that a contract reference names: found, missing, or not readable. */
export type Referenced =
  | { state: "none" }
  | { state: "unresolved"; reference: ContractReference; message: string }
  | { state: "missing"; reference: ContractReference }
  | {
      state: "found";
      reference: ContractReference;
      kind: Kind<ContractObject>;
      object: ContractObject;
      contract: ContractVersion;
    };

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

/** Returns the key of a referenced object in an index by reference. */
export function referenceKey(
  namespace: string,
  reference: Pick<ContractReference, "apiGroup" | "kind" | "name">,
): string {
  return `${namespace}/${reference.apiGroup}/${reference.kind}/${reference.name}`;
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
