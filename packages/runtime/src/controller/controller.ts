import { setMaxListeners } from "node:events";
import { isReason, type KubeObject } from "@capstan/apimachinery";
import type { Informer } from "../cache/informer.ts";
import { type Kind, type KindRef, keyText, kindId, parseKey } from "../kind.ts";
import type { Logger } from "../log/logger.ts";
import type { ControllerMetrics } from "../metrics/types.ts";
import { PRIORITY_LOW, PRIORITY_NORMAL, WorkQueue } from "../queue/work-queue.ts";
import { FairScheduler } from "./fair-scheduler.ts";
import type { Predicate } from "./predicate.ts";
import { type Result, TerminalError } from "./result.ts";
import { isDeferrable } from "./status-deferral.ts";
import type {
  ControllerDefinition,
  ControllerDeps,
  MapFunction,
  ReconcileContext,
  Request,
  Watch,
  WatchOptions,
} from "./types.ts";

/** A controller as the builder defined it; `start` runs it. */
export class Controller {
  readonly definition: ControllerDefinition;

  constructor(definition: ControllerDefinition) {
    this.definition = definition;
  }

  get name(): string {
    return this.definition.name;
  }

  /** Watches and reconciles until the signal stops it; `finished` resolves when the last reconcile has ended. */
  start(deps: ControllerDeps, signal: AbortSignal): RunningController {
    return new RunningController(this.definition, deps, signal);
  }
}

/** A deferred status may be this old at most, whatever the load. */
const MAX_HELD_MS = 10_000;
const RELEASE_MS = 500;

function statusOf(object: KubeObject | undefined): unknown {
  return (object as (KubeObject & { status?: unknown }) | undefined)?.status;
}

/** Errors that a program does not throw on purpose. */
function isMistake(error: unknown): boolean {
  return error instanceof TypeError || error instanceof ReferenceError || !(error instanceof Error);
}

interface DynamicWatch {
  /** Throws if the kind cannot be watched at the moment instead of blocking a worker. */
  synced: () => Promise<unknown>;
  release: () => Promise<void>;
}

/** A started controller. */
export class RunningController {
  readonly name: string;
  /** Resolves when the controller has stopped. */
  readonly finished: Promise<void>;
  readonly #definition: ControllerDefinition;
  readonly #deps: ControllerDeps;
  readonly #signal: AbortSignal;
  readonly #queue: WorkQueue;
  readonly #scheduler: FairScheduler;
  readonly #log: Logger;
  readonly #metrics: ControllerMetrics | undefined;
  readonly #context: ReconcileContext;
  readonly #dynamic = new Map<string, DynamicWatch>();
  readonly #removeHandlers: (() => void)[] = [];
  /** Since when deferred status messages wait to be written, and which may not wait any longer. */
  readonly #held = new Map<string, number>();
  readonly #due = new Set<string>();
  #cancelRelease: (() => void) | undefined;
  readonly #finish: () => void;
  readonly #pump = (): void => this.#run();
  #active = 0;
  #ready = false;
  #pumpPending = false;

  constructor(definition: ControllerDefinition, deps: ControllerDeps, signal: AbortSignal) {
    this.name = definition.name;
    this.#definition = definition;
    this.#deps = deps;
    this.#signal = signal;
    this.#scheduler = deps.scheduler ?? new FairScheduler(deps.clock);
    this.#log = deps.log.with({ controller: definition.name });
    this.#metrics = deps.metrics?.controller(definition.name, definition.concurrency, definition.subject);
    this.#queue = new WorkQueue({
      clock: deps.clock,
      observer: deps.metrics?.queue(definition.name),
      onAvailable: () => this.#schedule(),
    });
    let finish: () => void = () => undefined;
    this.finished = new Promise((resolve) => {
      finish = resolve;
    });
    this.#finish = finish;
    this.#context = this.#makeContext();
    this.#begin();
  }

  /** Whether nothing waits and nothing runs; delayed requests do not count. */
  get idle(): boolean {
    return this.#ready && this.#active === 0 && this.#queue.depth === 0;
  }

  /** Asks for a reconcile. */
  enqueue(request: Request, priority = PRIORITY_NORMAL): void {
    this.#queue.add(keyText(request.namespace, request.name), priority);
  }

  #makeContext(): ReconcileContext {
    const { cache, clock, random, recorder } = this.#deps;
    return {
      client: cache.client.withFieldManager(this.#definition.fieldManager),
      cache,
      recorder: recorder.named?.(this.name) ?? recorder,
      log: this.#log,
      clock,
      random,
      signal: this.#signal,
      watch: (kind, map, options) => this.#watchLater(kind, map, options),
      ensureStatus: (desired, live) => this.#ensureStatus(desired, live),
      unwatch: (kind) => this.#unwatch(kind),
    };
  }

  #begin(): void {
    const { cache } = this.#deps;
    if (this.#signal.aborted) {
      this.#stop();
      return;
    }
    // One signal stops all controllers of a process; Node would take their number for a leak.
    setMaxListeners(0, this.#signal);
    this.#signal.addEventListener("abort", () => this.#stop(), { once: true });
    const informers = this.#definition.watches.map((watch) => {
      const informer = cache.informer(watch.kind);
      this.#removeHandlers.push(this.#listen(informer, watch));
      informer.start();
      return informer;
    });
    for (const source of this.#definition.sources) {
      source.start((request, priority) => this.enqueue(request, priority), this.#signal);
    }
    void this.#whenSynced(informers);
  }

  /** Reconciling before all watched kinds are synced would act on partial state. */
  async #whenSynced(informers: readonly Informer<KubeObject>[]): Promise<void> {
    const synced = await Promise.all(informers.map((informer) => informer.waitForSync(this.#signal)));
    if (this.#signal.aborted || !synced.every((ok) => ok)) return;
    this.#ready = true;
    this.#schedule();
  }

  #listen<T extends KubeObject>(informer: Informer<T>, watch: Watch<T>): () => void {
    const { map } = watch;
    const predicate: Predicate<T> = watch.predicate ?? {};
    const { cache } = this.#deps;
    const { rank } = this.#definition;
    const enqueue = (object: T, priority: number): void => {
      let requests: Request[];
      try {
        requests = [...map(object, cache)];
      } catch (error) {
        // Kinds come in one by one after a start: asked again when the missing one is there.
        if (cache.afterSync(error, () => enqueue(object, priority), this.#signal)) return;
        throw error;
      }
      for (const request of requests) {
        this.#queue.addAfter(keyText(request.namespace, request.name), this.#scheduler.holdMs(rank), priority);
      }
    };
    return informer.addHandler({
      add: (object, initial) => {
        if (predicate.create?.(object) ?? true) enqueue(object, initial ? PRIORITY_LOW : PRIORITY_NORMAL);
      },
      update: (object, old) => {
        if (!(predicate.update?.(object, old) ?? true)) return;
        enqueue(object, PRIORITY_NORMAL);
        // Objects that depended on the old state must be reconciled as well.
        enqueue(old, PRIORITY_NORMAL);
      },
      delete: (object) => {
        if (predicate.delete?.(object) ?? true) enqueue(object, PRIORITY_NORMAL);
      },
    });
  }

  async #watchLater<T extends KubeObject>(
    kind: Kind<T>,
    map: MapFunction<T>,
    options: WatchOptions<T> = {},
  ): Promise<void> {
    const id = kindId(kind);
    let watch = this.#dynamic.get(id);
    if (watch === undefined) {
      const { informer, release } = this.#deps.cache.acquire(kind);
      const remove = this.#listen(informer, { kind, map, predicate: options.predicate as Predicate<T> | undefined });
      informer.start();
      watch = {
        synced: () => informer.syncedOrError(this.#signal),
        release: async () => {
          remove();
          await release();
        },
      };
      this.#dynamic.set(id, watch);
    }
    await watch.synced();
  }

  async #ensureStatus<T extends KubeObject>(desired: T, live: T | undefined): Promise<void> {
    const key = keyText(desired.metadata.namespace, desired.metadata.name ?? "");
    let waits = false;
    const { deferral } = this.#definition;
    const hold = (): boolean => {
      waits =
        deferral !== undefined &&
        this.#busy() &&
        !this.#due.has(key) &&
        isDeferrable(statusOf(live), statusOf(desired), deferral);
      if (waits && !this.#held.has(key)) this.#held.set(key, this.#deps.clock.monotonic());
      return waits;
    };
    await this.#context.client.ensure(desired, live, { subresource: "status", hold }, this.#signal);
    if (waits) this.#releaseLater();
    else this.#held.delete(key);
  }

  #busy(): boolean {
    return this.#scheduler.holdMs(Math.max(1, this.#definition.rank)) > 0;
  }

  #releaseLater(): void {
    this.#cancelRelease ??= this.#deps.clock.after(RELEASE_MS, () => {
      this.#cancelRelease = undefined;
      this.#release();
    });
  }

  /** Requeues objects whose deferred status has waited long enough, or all of them without load. */
  #release(): void {
    const busy = this.#busy();
    const oldest = this.#deps.clock.monotonic() - MAX_HELD_MS;
    for (const [key, since] of this.#held) {
      if (busy && since > oldest) continue;
      this.#held.delete(key);
      this.#due.add(key);
      this.#queue.add(key);
    }
    if (this.#held.size > 0) this.#releaseLater();
  }

  async #unwatch(kind: KindRef): Promise<void> {
    const watch = this.#dynamic.get(kindId(kind));
    this.#dynamic.delete(kindId(kind));
    await watch?.release();
  }

  #schedule(): void {
    if (this.#pumpPending || !this.#ready || this.#active >= this.#definition.concurrency) return;
    this.#pumpPending = true;
    queueMicrotask(this.#pump);
  }

  #run(): void {
    this.#pumpPending = false;
    while (this.#active < this.#definition.concurrency && this.#queue.depth > 0 && !this.#signal.aborted) {
      if (!this.#scheduler.mayRun(this.#definition.rank)) {
        this.#pumpPending = true;
        this.#scheduler.whenFree(this.#pump, this.#definition.rank);
        return;
      }
      const key = this.#queue.take();
      if (key === undefined) return;
      void this.#process(key);
    }
  }

  async #process(key: string): Promise<void> {
    this.#active++;
    this.#metrics?.active(this.#active);
    const started = this.#deps.clock.monotonic();
    const request = parseKey(key);
    try {
      this.#succeeded(key, await this.#definition.reconcile(request, this.#context), started);
    } catch (error) {
      this.#failed(key, request, error, started);
    }
    this.#active--;
    this.#metrics?.active(this.#active);
    this.#due.delete(key);
    this.#queue.done(key);
    if (this.#signal.aborted) this.#finishIfQuiet();
    else this.#schedule();
  }

  #succeeded(key: string, result: Result, started: number): void {
    this.#queue.forget(key);
    if (result.type === "requeue") this.#queue.addAfter(key, result.afterMs);
    const ms = this.#deps.clock.monotonic() - started;
    this.#metrics?.reconciled(result.type === "requeue" ? "requeue_after" : "success", ms, key);
  }

  #failed(key: string, request: Request, error: unknown, started: number): void {
    if (this.#deps.cache.afterSync(error, () => this.#queue.add(key), this.#signal)) return;
    const ms = this.#deps.clock.monotonic() - started;
    const terminal = error instanceof TerminalError;
    this.#metrics?.reconciled(terminal ? "terminal" : "error", ms, key);
    if (isMistake(error)) this.#metrics?.panicked();
    if (terminal) this.#queue.forget(key);
    else this.#queue.addRateLimited(key);
    if (this.#signal.aborted) return;
    // Another client wrote in between: routine, the retry settles it.
    const level = isReason(error, "Conflict") ? "debug" : "error";
    this.#log[level]("reconcile failed", { ...request, error, failures: this.#queue.failures(key) });
  }

  #stop(): void {
    for (const remove of this.#removeHandlers) remove();
    for (const watch of this.#dynamic.values()) void watch.release();
    this.#dynamic.clear();
    this.#cancelRelease?.();
    this.#queue.close();
    this.#finishIfQuiet();
  }

  #finishIfQuiet(): void {
    if (this.#active === 0) this.#finish();
  }
}
