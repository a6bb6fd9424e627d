import type { KubeObject } from "@capstan/apimachinery";
import { apiVersionOf, type Kind, type KindRef } from "../kind.ts";
import { Controller } from "./controller.ts";
import type { Predicate } from "./predicate.ts";
import type { StatusDeferral } from "./status-deferral.ts";
import type { MapFunction, Reconcile, Request, Source, Watch, WatchOptions } from "./types.ts";

/** Starts the definition of a controller: `controller("machine").for(Machine).owns(Secret).reconcile(reconcileMachine)`. */
export function controller(name: string): ControllerBuilder {
  return new ControllerBuilder(name);
}

/** Collects the watches and options of a controller. */
export class ControllerBuilder {
  readonly #name: string;
  #subject: KindRef | undefined;
  readonly #watches: Watch[] = [];
  readonly #sources: Source[] = [];
  #concurrency = 1;
  #rank = 0;
  #deferral: StatusDeferral | undefined;
  #fieldManager: string;

  constructor(name: string) {
    this.#name = name;
    this.#fieldManager = `capstan-${name}`;
  }

  /** The kind this controller reconciles. */
  for<T extends KubeObject>(kind: Kind<T>, options: WatchOptions<T> = {}): this {
    if (this.#subject !== undefined) throw new Error(`controller ${this.#name} has its kind already: call for() once`);
    this.#subject = kind;
    return this.watches(kind, requestFor, options);
  }

  /** A kind whose objects this controller makes: their changes lead to their controlling owner. */
  owns<T extends KubeObject>(kind: Kind<T>, options: WatchOptions<T> & { everyOwner?: boolean } = {}): this {
    const subject = this.#subject;
    if (subject === undefined) throw new Error(`controller ${this.#name}: call for() before owns()`);
    return this.watches(kind, (object) => ownerRequests(object, subject, options.everyOwner === true), options);
  }

  /** Any other kind, with the objects of the controller's kind that depend on it. On an update the old object is mapped too. */
  watches<T extends KubeObject>(kind: Kind<T>, map: MapFunction<T>, options: WatchOptions<T> = {}): this {
    const watch: Watch<T> = { kind, map, predicate: options.predicate as Predicate<T> | undefined };
    // The kind is the witness that only its own objects reach map and predicate.
    this.#watches.push(watch as unknown as Watch);
    return this;
  }

  /** Requests from elsewhere. */
  watchesRaw(source: Source): this {
    this.#sources.push(source);
    return this;
  }

  /** How many objects are reconciled at the same time; never the same one twice. Default 1. */
  concurrency(count: number): this {
    if (!Number.isInteger(count) || count < 1) throw new Error(`concurrency of ${this.#name} must be at least 1`);
    this.#concurrency = count;
    return this;
  }

  /** How far above its parts this controller's kind is: under load, lower ranks run first. Default 0; see FairScheduler. */
  rank(rank: number): this {
    this.#rank = rank;
    return this;
  }

  /** Which parts of a status that `ensureStatus` writes may wait while lower ranks have work. Nothing waits unless said. */
  deferStatus(deferral: StatusDeferral): this {
    this.#deferral = deferral;
    return this;
  }

  /** Under which name the controller owns fields; `capstan-NAME` otherwise. */
  fieldManager(name: string): this {
    this.#fieldManager = name;
    return this;
  }

  /** Completes the controller. */
  reconcile(reconcile: Reconcile): Controller {
    return new Controller({
      name: this.#name,
      fieldManager: this.#fieldManager,
      subject: this.#subject,
      watches: this.#watches,
      sources: this.#sources,
      concurrency: this.#concurrency,
      rank: this.#rank,
      deferral: this.#deferral,
      reconcile,
    });
  }
}

/** Returns the request for an object itself. */
export function requestFor(object: KubeObject): Request[] {
  return [{ namespace: object.metadata.namespace ?? "", name: object.metadata.name ?? "" }];
}

/** Returns requests for the owners of a kind: the controller, or every owner. API versions are ignored, as in controller-runtime. */
export function ownerRequests(object: KubeObject, owner: KindRef, everyOwner: boolean): Request[] {
  const requests: Request[] = [];
  for (const reference of object.metadata.ownerReferences ?? []) {
    if (reference.kind !== owner.kind || (!everyOwner && reference.controller !== true)) continue;
    if (reference.apiVersion !== apiVersionOf(owner) && groupOf(reference.apiVersion) !== owner.group) continue;
    requests.push({ namespace: owner.namespaced ? (object.metadata.namespace ?? "") : "", name: reference.name });
  }
  return requests;
}

function groupOf(apiVersion: string): string {
  const slash = apiVersion.indexOf("/");
  return slash < 0 ? "" : apiVersion.slice(0, slash);
}
