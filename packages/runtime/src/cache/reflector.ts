import {
  ApiError,
  type Clock,
  deepFreeze,
  isReason,
  type KubeObject,
  type Random,
  randomFloat,
  type Status,
  sleep,
  type WatchEvent,
} from "@capstan/apimachinery";
import type { Client } from "../client/client.ts";
import { responseError } from "../client/response-error.ts";
import { apiVersionOf, type Kind, keyOf } from "../kind.ts";
import type { InformerState } from "./informer-state.ts";
import { SilenceGuard } from "./silence-guard.ts";

const INITIAL_EVENTS_END = "k8s.io/initial-events-end";
/** Silence after which the end of the initial events is no longer expected. */
const INITIAL_EVENTS_MS = 30_000;
const BACKOFF_FIRST_MS = 200;
const BACKOFF_LAST_MS = 30_000;
/** A stream that closes this soon without an event counts as a failure, so that a broken server is not hammered. */
const TOO_SHORT_MS = 1000;

/** Selects the objects that an informer holds. */
export interface InformerScope {
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
}

/** Dependencies of a reflector. */
export interface ReflectorDeps<T extends KubeObject> {
  readonly kind: Kind<T>;
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly state: InformerState<T>;
  readonly scope: InformerScope;
  /** Shared by all informers of a server: whether it refused WatchList before. */
  readonly server: { watchList: boolean };
  /** Prepares an object that this process alone owns yet, e.g. drops managedFields. */
  readonly transform: (object: T) => T;
  readonly onSynced: () => void;
  readonly onError: (error: unknown) => void;
  /** The server answers (again). */
  readonly onWell: () => void;
  /** Whether the last attempt failed. */
  readonly failing: () => boolean;
  /** Told before each wait for another attempt: `retry` ends it. */
  readonly onWaiting: (retry: () => void) => void;
}

/** Keeps an informer's state in sync with the server until the signal aborts: lists, watches, and starts over as needed. */
export async function reflect<T extends KubeObject>(deps: ReflectorDeps<T>, signal: AbortSignal): Promise<void> {
  let failures = 0;
  while (!signal.aborted) {
    const before = deps.state.revision;
    const started = deps.clock.monotonic();
    let failure: unknown;
    try {
      await new Session(deps, signal).run();
    } catch (error) {
      failure = error;
    }
    if (signal.aborted) return;
    const progressed = deps.state.revision !== before || deps.clock.monotonic() - started >= TOO_SHORT_MS;
    if (failure === undefined) deps.onWell();
    else deps.onError(failure);
    if (failure === undefined && progressed) {
      failures = 0;
      continue;
    }
    failures = progressed ? 1 : failures + 1;
    const wait = Math.min(BACKOFF_FIRST_MS * 2 ** (failures - 1), BACKOFF_LAST_MS) * (1 + randomFloat(deps.random));
    const impatient = new AbortController();
    deps.onWaiting(() => impatient.abort());
    await sleep(deps.clock, wait, AbortSignal.any([signal, impatient.signal])).catch(() => undefined);
    if (impatient.signal.aborted) failures = 0;
  }
}

/** A server that ignores sendInitialEvents sends the objects but never the final bookmark. */
class NoInitialEvents extends Error {}

/** One pass: bring the state up to date if it is not, then follow the watch until it closes. */
class Session<T extends KubeObject> {
  readonly #deps: ReflectorDeps<T>;
  readonly #signal: AbortSignal;

  constructor(deps: ReflectorDeps<T>, signal: AbortSignal) {
    this.#deps = deps;
    this.#signal = signal;
  }

  async run(): Promise<void> {
    const { state } = this.#deps;
    try {
      if (state.revision === undefined) return await this.#start(true);
      if (this.#deps.failing()) await this.#probe();
      await this.#follow(this.#watch({ resourceVersion: state.revision }));
    } catch (error) {
      // Also in the first session, which may have lasted for minutes.
      if (state.revision === undefined || !isHistoryLost(error)) throw error;
      await this.#start(false);
    }
  }

  /** An open watch is silent until something changes; one small read shows at once that the server is back. */
  async #probe(): Promise<void> {
    const { client, kind, scope } = this.#deps;
    await client.list(kind, { ...scope, limit: 1 }, this.#signal);
    this.#deps.onWell();
  }

  /** From nothing, or from a revision the server no longer knows. */
  async #start(initial: boolean): Promise<void> {
    const { server } = this.#deps;
    if (server.watchList) {
      try {
        await this.#watchList(initial);
        return;
      } catch (error) {
        // Servers without the feature refuse sendInitialEvents or resourceVersionMatch on a watch, or do not understand the request.
        if (!(error instanceof NoInitialEvents) && !isReason(error, "Invalid", "BadRequest")) throw error;
        server.watchList = false;
      }
    }
    await this.#list(initial);
    await this.#follow(this.#watch({ resourceVersion: this.#deps.state.revision }));
  }

  async #list(initial: boolean): Promise<void> {
    const { client, kind, scope, state } = this.#deps;
    const read = async (limit?: number): Promise<void> => {
      const { items, resourceVersion } =
        limit === undefined
          ? await client.list(kind, scope, this.#signal)
          : await client.list(kind, { ...scope, limit }, this.#signal);
      state.replace(
        items.map((item) => this.#prepare(item)),
        resourceVersion,
        initial,
      );
    };
    try {
      await read();
    } catch (error) {
      if (!isReason(error, "Expired", "Gone")) throw error;
      // The pages outlived the server's history: read everything at once.
      await read(0);
    }
    this.#synced();
  }

  async #watchList(initial: boolean): Promise<void> {
    const { client, clock, kind } = this.#deps;
    const guard = new SilenceGuard(clock, this.#signal, INITIAL_EVENTS_MS);
    const collected = new Map<string, T>();
    let bytes = 0;
    let complete = false;
    try {
      for await (const event of this.#watch({ sendInitialEvents: true }, guard.signal)) {
        guard.heard();
        if (complete) {
          this.#live(event);
          continue;
        }
        bytes += event.bytes ?? 0;
        client.checkBytes(kind, bytes);
        if (this.#collect(event, collected)) {
          complete = true;
          guard.relax();
          this.#deps.state.replace([...collected.values()], event.object.metadata.resourceVersion ?? "", initial);
          collected.clear();
          this.#synced();
        }
      }
    } finally {
      guard.dispose();
    }
    if (complete || this.#signal.aborted) return;
    const problem = `the watch of ${kind.plural} ended before all existing objects were sent`;
    throw guard.expired ? new NoInitialEvents(problem) : new Error(problem);
  }

  /** Takes in one of the existing objects; true when the server says that these were all. */
  #collect(event: WatchEvent<T>, collected: Map<string, T>): boolean {
    const { type, object } = event;
    if (type === "ERROR") throw watchError(object);
    if (type === "BOOKMARK") return object.metadata.annotations?.[INITIAL_EVENTS_END] === "true";
    if (type === "DELETED") collected.delete(keyOf(object));
    else collected.set(keyOf(object), this.#prepare(object));
    this.#deps.client.checkCount(this.#deps.kind, collected.size);
    return false;
  }

  async #follow(events: AsyncIterable<WatchEvent<T>>): Promise<void> {
    let first = true;
    for await (const event of events) {
      if (first && event.type !== "ERROR") this.#deps.onWell();
      first = false;
      this.#live(event);
    }
  }

  #live(event: WatchEvent<T>): void {
    const { state, client, kind } = this.#deps;
    if (event.type === "ERROR") throw watchError(event.object);
    if (event.type === "BOOKMARK") state.bookmark(event.object.metadata.resourceVersion);
    else {
      state.event(event.type, this.#prepare(event.object));
      client.checkCount(kind, state.store.size);
      state.receivedBytes += event.bytes ?? 0;
      if (client.isTooLong(state.receivedBytes)) throw readAgain(kind.plural);
    }
  }

  #watch(
    options: { resourceVersion?: string | undefined; sendInitialEvents?: boolean },
    signal = this.#signal,
  ): AsyncIterable<WatchEvent<T>> {
    const { client, kind, scope, random } = this.#deps;
    // As client-go: spread over 5 to 10 minutes so that not all watches of a server end at once.
    const timeoutSeconds = 300 + Math.floor(randomFloat(random) * 300);
    return client.watch(kind, { ...scope, ...options, bookmarks: true, timeoutSeconds }, signal);
  }

  #synced(): void {
    this.#deps.onWell();
    this.#deps.onSynced();
  }

  #prepare(object: T): T {
    if (Object.isFrozen(object)) return object;
    if (object.kind === undefined || object.apiVersion === undefined) {
      object.apiVersion = apiVersionOf(this.#deps.kind);
      object.kind = this.#deps.kind.kind;
    }
    return deepFreeze(this.#deps.transform(object));
  }
}

function watchError(object: unknown): Error {
  const status = object as Partial<Status>;
  return responseError({ status: status.code ?? 500, body: object }, "a watch");
}

/** How large objects have become is known again after a list: what a watch replaces is not measured. */
function readAgain(plural: string): ApiError {
  const message = `the watch of ${plural} has sent so much data that it is listed again`;
  return new ApiError({
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    reason: "Expired",
    code: 410,
    message,
  });
}

function isHistoryLost(error: unknown): boolean {
  if (isReason(error, "Expired", "Gone")) return true;
  if (!(error instanceof ApiError)) return false;
  if (error.code === 410) return true;
  // The server is behind what we have seen: restored from a backup, or started empty.
  return error.status.details?.causes?.some((cause) => cause.reason === "ResourceVersionTooLarge") ?? false;
}
