import type { Clock, KubeObject, Random } from "@capstan/apimachinery";
import type { Cache } from "../cache/cache.ts";
import type { Client } from "../client/client.ts";
import type { Recorder } from "../events/recorder.ts";
import type { Kind, KindRef } from "../kind.ts";
import type { Logger } from "../log/logger.ts";
import type { RuntimeMetrics } from "../metrics/types.ts";
import type { FairScheduler } from "./fair-scheduler.ts";
import type { Predicate } from "./predicate.ts";
import type { Result } from "./result.ts";
import type { StatusDeferral } from "./status-deferral.ts";

/** Names the object to reconcile. */
export interface Request {
  readonly namespace: string;
  readonly name: string;
}

/** What a reconciler works with. */
export interface ReconcileContext {
  /** Writes under this controller's field manager; the cache sees what it writes at once. */
  readonly client: Client;
  readonly cache: Cache;
  readonly recorder: Recorder;
  readonly log: Logger;
  readonly clock: Clock;
  readonly random: Random;
  /** Aborted when the controller stops; long waits should end then. */
  readonly signal: AbortSignal;
  /**
   * Makes this controller watch a kind found at run time, once however often it is called. Resolves when its objects are known,
   * throws if the server does not let us watch it (yet).
   */
  watch<T extends KubeObject>(kind: Kind<T>, map: MapFunction<T>, options?: WatchOptions<T>): Promise<void>;
  /**
   * Writes the status of the object that is reconciled, if it changes. Under load, a change that only words
   * differently what is known waits a moment, because the next event will change it again; the object is then reconciled once more.
   */
  ensureStatus<T extends KubeObject>(desired: T, live: T | undefined): Promise<void>;
  /** Stops such a watch. */
  unwatch(kind: KindRef): Promise<void>;
}

/** Reconciles one object: reads the current state, takes the next step, and returns when to requeue. */
export type Reconcile = (request: Request, context: ReconcileContext) => Promise<Result>;

/** Maps a changed object to the objects to reconcile. */
export type MapFunction<T extends KubeObject> = (object: T, cache: Cache) => Iterable<Request>;

/** Options of a watch. */
export interface WatchOptions<T extends KubeObject> {
  readonly predicate?: Predicate<T> | Predicate | undefined;
}

/** A source of requests other than watches: a channel, a timer or another cluster. It stops when the signal aborts. */
export interface Source {
  start(enqueue: (request: Request, priority?: number) => void, signal: AbortSignal): void;
}

/** Dependencies that a controller gets from its process. */
export interface ControllerDeps {
  readonly cache: Cache;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly recorder: Recorder;
  readonly metrics?: RuntimeMetrics | undefined;
  /** One for all controllers of a process. */
  readonly scheduler?: FairScheduler | undefined;
}

/** A watched kind, and how its changes map to requests. */
export interface Watch<T extends KubeObject = KubeObject> {
  readonly kind: Kind<T>;
  readonly map: MapFunction<T>;
  readonly predicate: Predicate<T> | undefined;
}

/** The definition of a controller, as the builder collects it. */
export interface ControllerDefinition {
  readonly name: string;
  readonly fieldManager: string;
  readonly subject: KindRef | undefined;
  readonly watches: readonly Watch[];
  readonly sources: readonly Source[];
  readonly concurrency: number;
  /** Lower ranks run first under load. */
  readonly rank: number;
  /** What of a status is written later when the process is busy; undefined: nothing. */
  readonly deferral: StatusDeferral | undefined;
  readonly reconcile: Reconcile;
}
