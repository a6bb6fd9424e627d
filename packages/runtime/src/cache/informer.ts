import { type Clock, deepFreeze, type KubeObject, type Random, type Status } from "@capstan/apimachinery";
import type { Client } from "../client/client.ts";
import { type Kind, keyOf, type ObjectKey } from "../kind.ts";
import type { Logger } from "../log/logger.ts";
import type { IndexedStore } from "./indexed-store.ts";
import { type InformerHandler, InformerState } from "./informer-state.ts";
import { type InformerScope, reflect } from "./reflector.ts";
import { scopeFilter } from "./scope.ts";

/** Dependencies that all informers of a cache share. */
export interface InformerDeps {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly server: { watchList: boolean };
}

/** A live view of one kind, shared by all its users in the process. */
export class Informer<T extends KubeObject> {
  readonly kind: Kind<T>;
  readonly scope: InformerScope;
  readonly #deps: InformerDeps;
  readonly #state: InformerState<T>;
  readonly #handlers = new Set<InformerHandler<T>>();
  readonly #inScope: (object: KubeObject) => boolean;
  readonly #healthListeners = new Set<(error: unknown) => void>();
  readonly #stop = new AbortController();
  readonly #waiting = new Set<() => void>();
  /** Handlers of failures. */
  readonly #waitingForWord = new Set<() => void>();
  #synced = false;
  #error: unknown;
  #running: Promise<void> | undefined;
  #retry: () => void = () => undefined;

  constructor(kind: Kind<T>, scope: InformerScope, deps: InformerDeps) {
    this.kind = kind;
    this.scope = scope;
    this.#inScope = scopeFilter(scope);
    this.#deps = deps;
    this.#state = new InformerState<T>({
      add: (object, initial) => {
        for (const handler of this.#handlers) this.#add(handler, object, initial);
      },
      update: (object, old) => {
        for (const handler of this.#handlers) this.#update(handler, object, old);
      },
      delete: (object) => {
        for (const handler of this.#handlers) this.#delete(handler, object);
      },
    });
  }

  get store(): IndexedStore<T> {
    return this.#state.store;
  }

  /** Whether the first list is complete. */
  get synced(): boolean {
    return this.#synced;
  }

  /** Why the view may be stale at the moment; undefined when it is current. */
  get error(): unknown {
    return this.#error;
  }

  /** Calls back for all existing objects, then for every change; the result removes the handler. Handlers must be quick and never throw. */
  addHandler(handler: InformerHandler<T>): () => void {
    this.#handlers.add(handler);
    for (const object of this.store.list()) this.#add(handler, object, true);
    return () => this.#handlers.delete(handler);
  }

  /** Calls back with the error when the server is lost, and with undefined when it answers again; the returned function stops that. */
  onHealth(listener: (error: unknown) => void): () => void {
    this.#healthListeners.add(listener);
    return () => this.#healthListeners.delete(listener);
  }

  /** Begins to list and watch; repeated calls change nothing. */
  start(): void {
    if (this.#running !== undefined || this.#stop.signal.aborted) return;
    this.#running = reflect(
      {
        ...this.#deps,
        kind: this.kind,
        scope: this.scope,
        state: this.#state,
        transform: dropManagedFields,
        onSynced: () => this.#markSynced(),
        onError: (error) => this.#noteError(error),
        onWell: () => this.#noteWell(),
        failing: () => this.#error !== undefined,
        onWaiting: (retry) => {
          this.#retry = retry;
        },
      },
      this.#stop.signal,
    );
  }

  /** Asks a lost server again now: something says that it serves. Without a failure nothing happens. */
  retry(): void {
    this.#retry();
  }

  /** Stops the watch; the view stays as it is. */
  async stop(): Promise<void> {
    this.#stop.abort(new Error("the informer was stopped"));
    for (const wake of this.#waiting) wake();
    this.#waiting.clear();
    await this.#running;
  }

  /** Resolves once the first list is complete; false if the informer or the wait was stopped before. */
  async waitForSync(signal?: AbortSignal): Promise<boolean> {
    if (this.#synced || this.#stop.signal.aborted || signal?.aborted === true) return this.#synced;
    await new Promise<void>((resolve) => {
      const wake = (): void => {
        signal?.removeEventListener("abort", wake);
        this.#waiting.delete(wake);
        resolve();
      };
      this.#waiting.add(wake);
      signal?.addEventListener("abort", wake, { once: true });
    });
    return this.#synced;
  }

  /** As waitForSync, but throws what keeps the first list from completing instead of waiting on. */
  async syncedOrError(signal?: AbortSignal): Promise<boolean> {
    if (!this.#synced && this.#error === undefined) {
      let wake: () => void = () => undefined;
      const failed = new Promise<void>((resolve) => {
        wake = resolve;
        this.#waitingForWord.add(wake);
      });
      await Promise.race([this.waitForSync(signal), failed]);
      this.#waitingForWord.delete(wake);
    }
    if (!this.#synced && this.#error !== undefined) throw this.#error;
    return this.#synced;
  }

  /** Takes in a write of our own. */
  written(object: T): void {
    if (this.#synced && this.#holds(object)) this.#state.written(sharedCopy(object));
  }

  /** Takes in a delete of our own. */
  deleted(key: ObjectKey, answer: T | Status): void {
    if (this.#synced) this.#state.deleted(key, answer.kind === "Status" ? answer : sharedCopy(answer as T));
  }

  /**
   * An own write belongs into the view if it matches, and also if it did before: it is shown as written until the watch reports that
   * it left the selection.
   */
  #holds(object: T): boolean {
    return this.#inScope(object) || this.store.get(keyOf(object)) !== undefined;
  }

  #markSynced(): void {
    if (this.#synced) return;
    this.#synced = true;
    for (const wake of this.#waiting) wake();
  }

  #noteWell(): void {
    if (this.#error === undefined) return;
    this.#error = undefined;
    for (const listener of this.#healthListeners) listener(undefined);
  }

  #noteError(error: unknown): void {
    const first = this.#error === undefined;
    this.#error = error;
    if (first) for (const listener of this.#healthListeners) listener(error);
    for (const wake of this.#waitingForWord) wake();
    const level = first ? "info" : "debug";
    this.#deps.log[level]("watch interrupted, retrying", { kind: this.kind.kind, error });
  }

  // One handler's mistake must not cost the others their event.

  #add(handler: InformerHandler<T>, object: T, initial: boolean): void {
    try {
      handler.add?.(object, initial);
    } catch (error) {
      this.#handlerFailed(error);
    }
  }

  #update(handler: InformerHandler<T>, object: T, old: T): void {
    try {
      handler.update?.(object, old);
    } catch (error) {
      this.#handlerFailed(error);
    }
  }

  #delete(handler: InformerHandler<T>, object: T): void {
    try {
      handler.delete?.(object);
    } catch (error) {
      this.#handlerFailed(error);
    }
  }

  #handlerFailed(error: unknown): void {
    this.#deps.log.error(`a handler of ${this.kind.kind} failed`, { error });
  }
}

/** An answer to a writer becomes a cached object: frozen, so what the writer holds is read-only from now on. */
function sharedCopy<T extends KubeObject>(object: T): T {
  if (Object.isFrozen(object)) return object;
  const { managedFields: _, ...metadata } = object.metadata;
  return deepFreeze({ ...object, metadata });
}

/** managedFields are a fifth to two fifths of an object and are never read from a cache. */
function dropManagedFields<T extends KubeObject>(object: T): T {
  delete object.metadata.managedFields;
  return object;
}
