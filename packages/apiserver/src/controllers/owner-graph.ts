import type { OwnerReference, Unstructured } from "@capstan/apimachinery";

/** Who depends on whom, by the owner's uid. Objects without owners are not in it. */
export class OwnerGraph {
  readonly #dependents = new Map<string, Set<string>>();

  /** Takes a change of one object into account; returns uids of owners it no longer names. */
  update(key: string, object: Unstructured | undefined, previous: Unstructured | undefined): string[] {
    const now = ownersOf(object);
    const before = ownersOf(previous);
    if (now.length === 0 && before.length === 0) return [];
    for (const { uid } of now) this.#link(uid, key);
    const dropped = before.map(({ uid }) => uid).filter((uid) => !now.some((owner) => owner.uid === uid));
    for (const uid of dropped) this.#unlink(uid, key);
    return dropped;
  }

  dependentsOf(uid: string | undefined): readonly string[] {
    const keys = uid === undefined ? undefined : this.#dependents.get(uid);
    return keys === undefined ? [] : [...keys];
  }

  #link(uid: string, key: string): void {
    const keys = this.#dependents.get(uid);
    if (keys === undefined) this.#dependents.set(uid, new Set([key]));
    else keys.add(key);
  }

  #unlink(uid: string, key: string): void {
    const keys = this.#dependents.get(uid);
    if (keys?.delete(key) === true && keys.size === 0) this.#dependents.delete(uid);
  }
}

/** The owner references of an object; objects come from users, so they may be anything. */
export function ownersOf(object: Unstructured | undefined): readonly OwnerReference[] {
  const owners = object?.metadata.ownerReferences;
  return Array.isArray(owners) ? owners : [];
}
