/** The parts of a storage key. `group` is "" for the core group, `namespace` is "" for cluster-scoped objects. */
export interface KeyParts {
  group: string;
  plural: string;
  namespace: string;
  name: string;
}

/** Storage key of one object. */
export function keyOf(group: string, plural: string, namespace: string, name: string): string {
  return prefixOf(group, plural, namespace) + name;
}

/** Common start of the keys of a resource, or of those of one namespace. Ends with a slash, so that `a` does not match `a-b`. */
export function prefixOf(group: string, plural: string, namespace = ""): string {
  const resource = `${group === "" ? "core" : group}/${plural}/`;
  return namespace === "" ? resource : `${resource}${namespace}/`;
}

/** The parts of a key made by keyOf(). No part of it can contain a slash, so the number of slashes determines the scope. */
export function parseKey(key: string): KeyParts {
  const [group = "", plural = "", third = "", fourth] = key.split("/");
  return {
    group: group === "core" ? "" : group,
    plural,
    namespace: fourth === undefined ? "" : third,
    name: fourth ?? third,
  };
}

/**
 * The resource part (`group/plural`) of a key or prefix, or undefined for a prefix that spans resources. Indexes and
 * subscriptions are kept per resource by it.
 */
export function resourceOf(keyOrPrefix: string): string | undefined {
  const first = keyOrPrefix.indexOf("/");
  const second = first < 0 ? -1 : keyOrPrefix.indexOf("/", first + 1);
  return second < 0 ? undefined : keyOrPrefix.slice(0, second);
}

/** What the durable store can hold in one key; names of ordinary kinds stay far below. */
const MAX_KEY_BYTES = 1900;

/** Whether a key is too long to be stored. Kinds whose names have no limit of their own (RBAC) can get there. */
export function isTooLong(key: string): boolean {
  return key.length * 3 > MAX_KEY_BYTES && Buffer.byteLength(key) > MAX_KEY_BYTES;
}
