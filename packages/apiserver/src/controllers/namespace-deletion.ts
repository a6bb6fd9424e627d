import { type Condition, formatTime, isReason, type Unstructured } from "@capstan/apimachinery";
import type { InternalApi, ResourceKey } from "../types.ts";
import type { Controller, ControllerDeps } from "./deps.ts";
import { countRemaining, namespaceConditions, type Remaining } from "./namespace-conditions.ts";
import { WorkList } from "./work-list.ts";

const NAMESPACES: ResourceKey = { group: "", plural: "namespaces" };
const MANAGER = "kube-controller-manager";
const FINALIZER = "kubernetes";
/** Enough to fill a commit, few enough that requests are served in between. */
const AT_ONCE = 50;

/**
 * Empties namespaces that are being deleted and then finalizes them, as upstream's namespace controller: everything inside is deleted,
 * conditions report what remains, and when nothing does the `kubernetes` finalizer is removed.
 */
export function startNamespaceDeletion(api: InternalApi, deps: ControllerDeps): Controller {
  return new NamespaceDeletion(api, deps);
}

class NamespaceDeletion implements Controller {
  readonly #api: InternalApi;
  readonly #deps: ControllerDeps;
  readonly #work: WorkList;
  readonly #terminating = new Set<string>();
  readonly #unwatchNamespaces: () => void;
  /** Open only while a namespace terminates: deleted or new content triggers another pass. */
  #unwatchContent: (() => void) | undefined;

  constructor(api: InternalApi, deps: ControllerDeps) {
    this.#api = api;
    this.#deps = deps;
    this.#work = new WorkList(
      deps.clock,
      (name) => this.#process(name),
      (name, error) => deps.log(`deletion of namespace ${name} failed; retrying`, error),
    );
    this.#unwatchNamespaces = api.watch(NAMESPACES, ({ name, object }) => this.#onNamespace(name, object));
  }

  stop(): void {
    this.#unwatchNamespaces();
    this.#unwatchContent?.();
    this.#unwatchContent = undefined;
    this.#work.stop();
  }

  idle(): boolean {
    return this.#work.idle();
  }

  #onNamespace(name: string, object: Unstructured | undefined): void {
    if (object !== undefined && isHeld(object)) {
      if (this.#terminating.has(name)) return;
      this.#terminating.add(name);
      this.#work.add(name);
      this.#watchContent();
    } else if (this.#terminating.delete(name) && this.#terminating.size === 0) {
      this.#unwatchContent?.();
      this.#unwatchContent = undefined;
    }
  }

  #watchContent(): void {
    if (this.#unwatchContent !== undefined) return;
    // What exists already is listed by process(); only what happens from now on matters.
    let replaying = true;
    this.#unwatchContent = this.#api.watch(undefined, ({ namespace, object, previous }) => {
      if (replaying || !this.#terminating.has(namespace)) return;
      if (object === undefined || previous === undefined) this.#work.add(namespace);
    });
    replaying = false;
  }

  async #process(name: string): Promise<void> {
    const namespace = this.#api.get(NAMESPACES, "", name);
    if (namespace === undefined || !isHeld(namespace)) return;
    const { remaining, failure } = await this.#deleteContent(name);
    await this.#report(name, remaining);
    if (failure !== undefined) throw failure;
    if (remaining.resources.size === 0) await this.#release(name);
  }

  async #deleteContent(namespace: string): Promise<{ remaining: Remaining; failure: unknown }> {
    const remaining: Remaining = { resources: new Map(), finalizers: new Map(), failures: [] };
    let failure: unknown;
    for (const type of this.#namespacedResources()) {
      const objects = this.#api.list(type, namespace);
      if (objects.length === 0) continue;
      const outcomes = await this.#deleteAll(type, namespace, objects);
      for (const outcome of outcomes) {
        if (outcome.status === "fulfilled") continue;
        failure ??= outcome.reason;
        remaining.failures.push(outcome.reason instanceof Error ? outcome.reason.message : String(outcome.reason));
      }
      countRemaining(remaining, `${type.plural}.${type.group}`, this.#api.list(type, namespace));
    }
    return { remaining, failure };
  }

  async #deleteAll(
    type: ResourceKey,
    namespace: string,
    objects: readonly Unstructured[],
  ): Promise<PromiseSettledResult<void>[]> {
    const outcomes: PromiseSettledResult<void>[] = [];
    for (let i = 0; i < objects.length; i += AT_ONCE) {
      const some = objects.slice(i, i + AT_ONCE);
      outcomes.push(...(await Promise.allSettled(some.map((object) => this.#deleteObject(type, namespace, object)))));
    }
    return outcomes;
  }

  async #deleteObject(type: ResourceKey, namespace: string, object: Unstructured): Promise<void> {
    if (object.metadata.deletionTimestamp !== undefined) return;
    try {
      await this.#api.delete(type, namespace, object.metadata.name ?? "", { propagationPolicy: "Background" });
    } catch (error) {
      if (!isReason(error, "NotFound")) throw error;
    }
  }

  /** Every stored namespaced resource once, whatever versions it is served in. */
  #namespacedResources(): ResourceKey[] {
    const seen = new Map<string, ResourceKey>();
    for (const type of this.#deps.registry.types()) {
      if (!type.namespaced || type.storedAs !== undefined || !type.verbs.includes("delete")) continue;
      seen.set(`${type.group}/${type.plural}`, { group: type.group, plural: type.plural });
    }
    return [...seen.values()];
  }

  async #report(name: string, remaining: Remaining): Promise<void> {
    const now = formatTime(this.#deps.clock.now());
    await this.#api.update(
      NAMESPACES,
      "",
      name,
      MANAGER,
      (object) => {
        const status = object["status"] as { phase?: string; conditions?: Condition[] } | undefined;
        const before = status?.conditions ?? [];
        const conditions = namespaceConditions(before, remaining, now);
        if (conditions === before) return false;
        object["status"] = { ...status, phase: "Terminating", conditions };
        return undefined;
      },
      "status",
    );
  }

  async #release(name: string): Promise<void> {
    await this.#api.update(
      NAMESPACES,
      "",
      name,
      MANAGER,
      (object) => {
        const spec = object["spec"] as { finalizers?: string[] } | undefined;
        object["spec"] = { ...spec, finalizers: (spec?.finalizers ?? []).filter((f) => f !== FINALIZER) };
      },
      "finalize",
    );
  }
}

/** Being deleted and waiting for this controller. */
function isHeld(namespace: Unstructured): boolean {
  const spec = namespace["spec"] as { finalizers?: string[] } | undefined;
  return namespace.metadata.deletionTimestamp !== undefined && spec?.finalizers?.includes(FINALIZER) === true;
}
