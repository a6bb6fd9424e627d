import type { KubeObject, Unstructured } from "@capstan/apimachinery";

/** Identifies a kind by what API paths are built from. */
export interface KindRef {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
}

/** A KindRef that carries the TypeScript type of its objects, so that `client.get(Machine, key)` returns a Machine. */
export interface Kind<T extends KubeObject = Unstructured> extends KindRef {
  /** Never set: carries the type. */
  readonly __type?: T;
}

/** The object type of a kind: `type Machine = ObjectOf<typeof Machine>`. */
export type ObjectOf<K> = K extends { readonly __type?: infer T } ? NonNullable<T> : never;

/** Identifies an object within its kind. The namespace is absent or empty for cluster-scoped kinds. */
export interface ObjectKey {
  readonly namespace?: string | undefined;
  readonly name: string;
}

/** Creates a kind for a handwritten type; kinds with schemas come from `@capstan/capi`. */
export function kindRef<T extends KubeObject = Unstructured>(ref: KindRef): Kind<T> {
  return Object.freeze({ ...ref });
}

/** Returns `cluster.x-k8s.io/v1beta2`, or `v1` in the core group. */
export function apiVersionOf(kind: { group: string; version: string }): string {
  return kind.group === "" ? kind.version : `${kind.group}/${kind.version}`;
}

/** Returns a unique map key for a kind and version. */
export function kindId(kind: KindRef): string {
  return `${apiVersionOf(kind)}/${kind.kind}`;
}

/** Returns `Machine.v1beta2.cluster.x-k8s.io`, the form used in messages. */
export function kindText(kind: { group: string; version: string; kind: string }): string {
  return kind.group === "" ? `${kind.kind}.${kind.version}` : `${kind.kind}.${kind.version}.${kind.group}`;
}

/** Returns `namespace/name`, or `name` for cluster-scoped objects: the key that queues and caches use, as in client-go. */
export function keyText(namespace: string | undefined, name: string): string {
  return namespace === undefined || namespace === "" ? name : `${namespace}/${name}`;
}

/** Returns the key of an object. */
export function keyOf(object: KubeObject): string {
  return keyText(object.metadata.namespace, object.metadata.name ?? "");
}

/** Splits a key made by `keyText`. */
export function parseKey(key: string): { namespace: string; name: string } {
  const slash = key.indexOf("/");
  return slash < 0 ? { namespace: "", name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}
