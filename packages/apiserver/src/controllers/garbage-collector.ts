import { isReason, type OwnerReference, parseGroupVersion, type Unstructured } from "@capstan/apimachinery";
import { yieldToEventLoop } from "@capstan/apimachinery/foreign";
import { keyOf, parseKey } from "../store/keys.ts";
import type { InternalApi, InternalChange, ResourceKey, ResourceType } from "../types.ts";
import type { Controller, ControllerDeps } from "./deps.ts";
import { OwnerGraph, ownersOf } from "./owner-graph.ts";
import { reportInvalidNamespace } from "./owner-warning.ts";
import { WorkList } from "./work-list.ts";

const MANAGER = "garbage-collector";
const FOREGROUND = "foregroundDeletion";
const ORPHAN = "orphan";
/** An owner may have thousands of dependents: orphaning them all at once would hold up requests. */
const AT_ONCE = 50;

/**
 * Deletes objects whose owners no longer exist, as kube-controller-manager's garbage collector does: dependents are found by the owner's
 * uid, decisions are made on a live look-up, and deletes carry uid and resourceVersion so that a changed object is checked again.
 */
export function startGarbageCollector(api: InternalApi, deps: ControllerDeps): Controller {
  return new GarbageCollector(api, deps);
}

interface Owners {
  solid: OwnerReference[];
  dangling: OwnerReference[];
  /** The owner exists and waits for its dependents to be deleted. */
  waiting: OwnerReference[];
}

class GarbageCollector implements Controller {
  readonly #api: InternalApi;
  readonly #deps: ControllerDeps;
  readonly #graph = new OwnerGraph();
  readonly #work: WorkList;
  /** Owners in foreground deletion by uid: when a dependent is deleted, they are checked again. */
  readonly #foreground = new Map<string, string>();
  /** Objects with an owner of a kind that is not served: never deleted, checked again when the kinds change. */
  readonly #unknown = new Set<string>();
  /** Uids of objects whose impossible owner has been reported. */
  readonly #warned = new Set<string>();
  readonly #unsubscribe: (() => void)[];

  constructor(api: InternalApi, deps: ControllerDeps) {
    this.#api = api;
    this.#deps = deps;
    this.#work = new WorkList(
      deps.clock,
      (key) => this.#process(key),
      (key, error) => deps.log(`garbage collection of ${key} failed; retrying`, error),
    );
    this.#unsubscribe = [
      deps.registry.onChange(() => this.#retryUnknown()),
      api.watch(undefined, (change) => this.#onChange(change)),
    ];
  }

  stop(): void {
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
    this.#work.stop();
  }

  idle(): boolean {
    return this.#work.idle();
  }

  #onChange({ type, namespace, name, object, previous }: InternalChange): void {
    const owned = ownersOf(object).length > 0;
    const relevant = owned || ownersOf(previous).length > 0 || object?.metadata.deletionTimestamp !== undefined;
    if (object !== undefined && !relevant) return;
    const key = keyOf(type.group, type.plural, namespace, name);
    for (const uid of this.#graph.update(key, object, previous)) this.#lookAtForegroundOwner(uid);
    if (object === undefined) {
      this.#onGone(key, previous?.metadata.uid);
      return;
    }
    if (isSteered(object)) {
      if (hasFinalizer(object, FOREGROUND)) this.#foreground.set(object.metadata.uid ?? "", key);
      this.#work.add(key);
    } else if (owned && (ownersChanged(object, previous) || !this.#hasOnlySolidOwners(object))) this.#work.add(key);
    // Its references may just have become non-blocking.
    if (this.#foreground.size > 0) for (const { uid } of ownersOf(object)) this.#lookAtForegroundOwner(uid);
  }

  #onGone(key: string, uid: string | undefined): void {
    this.#unknown.delete(key);
    if (uid === undefined) return;
    this.#foreground.delete(uid);
    this.#warned.delete(uid);
    for (const dependent of this.#graph.dependentsOf(uid)) this.#work.add(dependent);
  }

  #lookAtForegroundOwner(uid: string): void {
    const key = this.#foreground.get(uid);
    if (key !== undefined) this.#work.add(key);
  }

  #retryUnknown(): void {
    for (const key of this.#unknown) this.#work.add(key);
    this.#unknown.clear();
  }

  /** A cheap check before anything is queued: nearly always all owners exist. */
  #hasOnlySolidOwners(object: Unstructured): boolean {
    const owners = this.#classify(object);
    return owners !== undefined && owners.dangling.length === 0 && owners.waiting.length === 0;
  }

  async #process(key: string): Promise<void> {
    const object = this.#read(key);
    if (object === undefined) return;
    if (isSteered(object)) {
      if (hasFinalizer(object, ORPHAN)) await this.#orphanDependents(key, object);
      else await this.#deleteDependentsFirst(key, object);
      return;
    }
    if (object.metadata.deletionTimestamp !== undefined || ownersOf(object).length === 0) return;
    await this.#collect(key, object);
  }

  async #collect(key: string, object: Unstructured): Promise<void> {
    const owners = this.#classify(object);
    if (owners === undefined) {
      this.#unknown.add(key);
      return;
    }
    const { solid, dangling, waiting } = owners;
    if (solid.length > 0) {
      if (dangling.length + waiting.length > 0) await this.#dropOwners(key, [...dangling, ...waiting]);
      return;
    }
    const dependents = this.#graph.dependentsOf(object.metadata.uid);
    if (waiting.length > 0 && dependents.length > 0) {
      // A dependent that also waits could wait for this object: stop blocking our owners, or the cycle would never resolve.
      if (dependents.some((dependent) => isWaitingForDependents(this.#read(dependent)))) await this.#unblockOwners(key);
      await this.#delete(key, object.metadata.uid, "Foreground");
      return;
    }
    await this.#delete(key, object.metadata.uid, policyOf(object), object.metadata.resourceVersion);
  }

  /** Undefined when nothing may be decided: an owner's kind is unknown, or can never be resolved. */
  #classify(object: Unstructured): Owners | undefined {
    const owners: Owners = { solid: [], dangling: [], waiting: [] };
    const namespace = object.metadata.namespace ?? "";
    for (const reference of ownersOf(object)) {
      const type = this.#typeOf(reference);
      if (type === undefined) return undefined;
      if (type.namespaced && namespace === "") {
        this.#warnOnce(object, reference);
        return undefined;
      }
      const owner = this.#api.get(type, type.namespaced ? namespace : "", reference.name);
      if (owner === undefined || owner.metadata.uid !== reference.uid) owners.dangling.push(reference);
      else if (isWaitingForDependents(owner)) owners.waiting.push(reference);
      else owners.solid.push(reference);
    }
    return owners;
  }

  #warnOnce(object: Unstructured, reference: OwnerReference): void {
    const { uid = "" } = object.metadata;
    if (this.#warned.has(uid)) return;
    this.#warned.add(uid);
    reportInvalidNamespace(this.#api, this.#deps, object, reference);
  }

  #typeOf(reference: OwnerReference): ResourceType | undefined {
    try {
      const { group, version } = parseGroupVersion(reference.apiVersion);
      const { registry } = this.#deps;
      const exact = registry.findKind(group, version, reference.kind);
      return exact ?? registry.types().find((type) => type.group === group && type.kind === reference.kind);
    } catch {
      return undefined;
    }
  }

  async #deleteDependentsFirst(key: string, owner: Unstructured): Promise<void> {
    const { uid = "", namespace = "" } = owner.metadata;
    let blocked = false;
    for (const dependent of this.#graph.dependentsOf(uid)) {
      const object = this.#read(dependent);
      if (object === undefined) continue;
      // Owners are of the same namespace: whoever names a UID elsewhere must not hold up its deletion.
      const isOwned = namespace === "" || object.metadata.namespace === namespace;
      blocked ||= isOwned && ownersOf(object).some((ref) => ref.uid === uid && ref.blockOwnerDeletion === true);
      if (object.metadata.deletionTimestamp === undefined) this.#work.add(dependent);
    }
    if (!blocked) await this.#dropFinalizer(key, FOREGROUND);
  }

  async #orphanDependents(key: string, owner: Unstructured): Promise<void> {
    const { uid = "" } = owner.metadata;
    const dependents = this.#graph.dependentsOf(uid);
    for (let i = 0; i < dependents.length; i += AT_ONCE) {
      if (i > 0) await yieldToEventLoop();
      const some = dependents.slice(i, i + AT_ONCE);
      await Promise.all(some.map((dependent) => this.#dropOwners(dependent, [{ uid }])));
    }
    await this.#dropFinalizer(key, ORPHAN);
  }

  async #dropOwners(key: string, owners: readonly { uid: string }[]): Promise<void> {
    await this.#change(key, ({ metadata }) => {
      const kept = ownersOf({ apiVersion: "", kind: "", metadata }).filter(
        (ref) => !owners.some((owner) => owner.uid === ref.uid),
      );
      if (kept.length > 0) metadata.ownerReferences = kept;
      else delete metadata.ownerReferences;
    });
  }

  async #unblockOwners(key: string): Promise<void> {
    await this.#change(key, ({ metadata }) => {
      for (const reference of metadata.ownerReferences ?? []) reference.blockOwnerDeletion = false;
    });
  }

  async #dropFinalizer(key: string, finalizer: string): Promise<void> {
    await this.#change(key, ({ metadata }) => {
      if (metadata.finalizers?.includes(finalizer) !== true) return false;
      metadata.finalizers = metadata.finalizers.filter((other) => other !== finalizer);
      return undefined;
    });
  }

  async #change(key: string, change: (object: Unstructured) => void | false): Promise<void> {
    const { type, namespace, name } = placeOf(key);
    await this.#api.update(type, namespace, name, MANAGER, change);
  }

  async #delete(
    key: string,
    uid: string | undefined,
    propagationPolicy: "Background" | "Foreground" | "Orphan",
    resourceVersion?: string,
  ): Promise<void> {
    const { type, namespace, name } = placeOf(key);
    const newest = resourceVersion ?? this.#read(key)?.metadata.resourceVersion;
    const preconditions = {
      uid,
      resourceVersion: newest,
    };
    try {
      await this.#api.delete(type, namespace, name, { propagationPolicy, preconditions });
    } catch (error) {
      if (!isReason(error, "NotFound")) throw error;
    }
  }

  #read(key: string): Unstructured | undefined {
    const { type, namespace, name } = placeOf(key);
    return this.#api.get(type, namespace, name);
  }
}

function placeOf(key: string): { type: ResourceKey; namespace: string; name: string } {
  const { group, plural, namespace, name } = parseKey(key);
  return { type: { group, plural }, namespace, name };
}

/** Whether it is being deleted and waits for the collector. */
function isSteered(object: Unstructured): boolean {
  if (object.metadata.deletionTimestamp === undefined) return false;
  return hasFinalizer(object, FOREGROUND) || hasFinalizer(object, ORPHAN);
}

function isWaitingForDependents(object: Unstructured | undefined): boolean {
  return object?.metadata.deletionTimestamp !== undefined && hasFinalizer(object, FOREGROUND);
}

function hasFinalizer(object: Unstructured, finalizer: string): boolean {
  return object.metadata.finalizers?.includes(finalizer) === true;
}

function policyOf(object: Unstructured): "Background" | "Foreground" | "Orphan" {
  if (hasFinalizer(object, ORPHAN)) return "Orphan";
  return hasFinalizer(object, FOREGROUND) ? "Foreground" : "Background";
}

function ownersChanged(object: Unstructured, previous: Unstructured | undefined): boolean {
  if (previous === undefined) return false;
  const uids = (o: Unstructured): string =>
    ownersOf(o)
      .map((reference) => reference.uid)
      .join();
  return uids(object) !== uids(previous);
}
