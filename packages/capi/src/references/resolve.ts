import type { KubeObject } from "@capstan/apimachinery";
import { grantsNamespace, USABLE_FROM_ANNOTATION } from "./grant.ts";

/** The object that holds a reference. */
export interface Referrer {
  readonly metadata: { readonly namespace?: string | undefined };
}

/** A reference as kinds write it. An empty or absent namespace means the one of the referring object. */
export interface NamedReference {
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
}

/** Where the object that a reference names is. */
export interface ReferenceTarget {
  readonly namespace: string;
  readonly name: string;
}

/** A reference, resolved; or why it must not be followed: field, cause and cure. */
export type ResolvedReference = ReferenceTarget | { readonly problem: string };

/** Where a reference points, without asking whether it may be followed: only for reading the target's grant, and for messages. */
export function namedTarget(referrer: Referrer, reference: NamedReference): ReferenceTarget {
  return { namespace: reference.namespace || ownNamespace(referrer), name: reference.name ?? "" };
}

/**
 * Resolves a reference that must stay in the namespace of the object that holds it. Every lookup by a reference goes
 * through here or through `resolveGranted`: tenants write references, and controllers that follow them can read all namespaces.
 */
export function resolveReference(referrer: Referrer, reference: NamedReference, field: string): ResolvedReference {
  const target = namedTarget(referrer, reference);
  return target.namespace === ownNamespace(referrer) ? target : { problem: `${field}: ${foreignDetail(target)}` };
}

/**
 * Resolves a reference whose contract allows another namespace. `found` is the object at `namedTarget`: it must grant the
 * use. A missing one is rejected with the same message, which does not reveal what another namespace contains.
 */
export function resolveGranted(
  referrer: Referrer,
  reference: NamedReference,
  field: string,
  found: Pick<KubeObject, "metadata"> | undefined,
): ResolvedReference {
  const target = namedTarget(referrer, reference);
  const namespace = ownNamespace(referrer);
  if (target.namespace === namespace || (found !== undefined && grantsNamespace(found, namespace))) return target;
  return { problem: `${field}: ${ungrantedDetail(target, namespace)}` };
}

/** What is wrong with a reference that must not leave its namespace, and what to do. */
export function foreignDetail({ namespace, name }: ReferenceTarget): string {
  return `"${name}" is in namespace "${namespace}", but only objects of the same namespace can be referenced; remove the namespace from the reference, or create the object here`;
}

/** What is wrong with a reference to another namespace that was not granted, and what to do. */
export function ungrantedDetail({ namespace, name }: ReferenceTarget, from: string): string {
  return `"${namespace}/${name}" does not exist or does not allow namespace "${from}"; its owner allows it with the annotation ${USABLE_FROM_ANNOTATION}: ${from} (a list separated by commas, or "*")`;
}

function ownNamespace({ metadata }: Referrer): string {
  return metadata.namespace ?? "";
}
