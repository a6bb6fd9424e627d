import { ApiError, expired, internalError, randomFloat, type Unstructured } from "@capstan/apimachinery";
import { yieldToEventLoop } from "@capstan/apimachinery/foreign";
import { type ListOptions, parseResourceVersion } from "../server/query-options.ts";
import type { StoredChange } from "../store/object-store.types.ts";
import { CompactedError } from "../store/store.ts";
import type { ResourceType } from "../types.ts";
import { apiVersionOf, type RegistryCore } from "./core.ts";
import { derivedViews } from "./derived.ts";
import { storagePrefix } from "./keys.ts";
import { reach } from "./list.ts";
import { selectionOf } from "./selection.ts";
import { type View, viewOf, viewsOf } from "./views.ts";
import { type ChangeViews, eventFor, type OutgoingEvent, objectEvent, viewEvent } from "./watch-events.ts";

/** Who receives a watch: a socket or an in-process iterator. */
export interface WatchSink {
  /** All events of one event-loop turn, in order. */
  send(events: readonly OutgoingEvent[]): void;
  /** The stream is over; nothing follows. */
  end(): void;
}

/** An accepted watch that has not started yet. */
export interface WatchStream {
  /** Starts sending. The returned function stops it without calling end(). */
  start(sink: WatchSink): () => void;
}

/** Changes how events look: Table and PartialObjectMetadata watches. */
export type EventTransform = (event: OutgoingEvent) => OutgoingEvent;

const BOOKMARK_INTERVAL_MS = 60_000;
/** Initial events that are sent before the watch yields to the event loop. */
const EVENTS_AT_ONCE = 500;
const LAST_BOOKMARK_BEFORE_END_MS = 2_000;
const MIN_TIMEOUT_MS = 30 * 60_000;

/** Accepts a watch: throws for invalid parameters; later failures become ERROR events. */
export async function openWatch(
  core: RegistryCore,
  type: ResourceType,
  namespace: string,
  options: ListOptions,
  transform: EventTransform | undefined,
): Promise<WatchStream> {
  const selection = selectionOf(type, options.labelSelector, options.fieldSelector);
  const revision = parseResourceVersion(options.resourceVersion) ?? 0;
  // A revision that is not reached soon is refused: after a restore the client would wait for it in silence.
  await reach(core, revision);
  return {
    start: (sink) => {
      const watch = new Watch(core, type, sink, transform, selection.matches);
      watch.begin(storagePrefix(type, namespace), revision, options);
      return () => watch.stop();
    },
  };
}

class Watch {
  readonly #core: RegistryCore;
  readonly #type: ResourceType;
  readonly #sink: WatchSink;
  readonly #transform: EventTransform | undefined;
  readonly #matches: (object: Unstructured) => boolean;
  #unsubscribe: (() => void) | undefined;
  readonly #cancels: (() => void)[] = [];
  /** Set while a conversion webhook works: later events wait behind it. */
  #queue: Promise<void> | undefined;
  #stopped = false;

  constructor(
    core: RegistryCore,
    type: ResourceType,
    sink: WatchSink,
    transform: EventTransform | undefined,
    matches: (object: Unstructured) => boolean,
  ) {
    this.#core = core;
    this.#type = type;
    this.#sink = sink;
    this.#transform = transform;
    this.#matches = matches;
  }

  begin(prefix: string, revision: number, options: ListOptions): void {
    const initial = options.sendInitialEvents === true || (options.sendInitialEvents === undefined && revision === 0);
    const { store, clock, random } = this.#core;
    this.#cancels.push(this.#core.types.onChange(() => this.#onTypesChanged()));
    const timeoutMs =
      options.timeoutSeconds !== undefined && options.timeoutSeconds > 0
        ? options.timeoutSeconds * 1000
        : MIN_TIMEOUT_MS * (1 + randomFloat(random));
    this.#cancels.push(clock.after(timeoutMs, () => this.#end()));
    try {
      let from = revision;
      if (initial) {
        const snapshot = store.list(prefix);
        from = snapshot.revision;
        this.#enqueue(
          () =>
            this.#type.derived === undefined
              ? viewsOf(this.#type, snapshot.items)
              : derivedViews(this.#type, this.#core.types, snapshot.revision),
          (views) => this.#sendInitial(views, snapshot.revision, options),
        );
      } else if (revision === 0) from = store.revision();
      this.#unsubscribe = store.subscribe(prefix, from, (changes) => this.#onChanges(changes));
    } catch (error) {
      this.#fail(error, revision);
      return;
    }
    if (options.allowWatchBookmarks) this.#scheduleBookmarks(timeoutMs);
  }

  stop(): void {
    if (this.#stopped) return;
    this.#stopped = true;
    this.#unsubscribe?.();
    for (const cancel of this.#cancels) cancel();
  }

  #end(): void {
    if (this.#stopped) return;
    this.stop();
    this.#sink.end();
  }

  #onTypesChanged(): void {
    const { group, version, plural, derived } = this.#type;
    if (this.#core.types.find(group, version, plural) !== this.#type) this.#end();
    // What is computed from the types has no history to follow: the client must list again.
    else if (derived !== undefined) this.#fail(expired("the served resources changed"));
  }

  #fail(error: unknown, revision = 0): void {
    if (this.#stopped) return;
    const failure =
      error instanceof CompactedError
        ? expired(`too old resource version: ${revision} (${error.compactedRevision + 1})`)
        : error instanceof ApiError
          ? error
          : internalError("the watch failed");
    this.#emit([objectEvent("ERROR", failure.status)]);
    this.#end();
  }

  #sendInitial(views: readonly View[], revision: number, options: ListOptions): void {
    const send = (from: number): void => {
      const piece = views.slice(from, from + EVENTS_AT_ONCE).filter((view) => this.#matches(view.object));
      const events = piece.map((view) => viewEvent("ADDED", view));
      const last = from + EVENTS_AT_ONCE >= views.length;
      if (last && options.sendInitialEvents === true && options.allowWatchBookmarks)
        events.push(this.#bookmark(revision, true));
      this.#emit(events);
    };
    send(0);
    for (let from = EVENTS_AT_ONCE; from < views.length; from += EVENTS_AT_ONCE)
      this.#enqueue(yieldToEventLoop, () => send(from));
  }

  #onChanges(changes: readonly StoredChange[]): void {
    if (this.#stopped) return;
    if (this.#queue === undefined) {
      const events: OutgoingEvent[] = [];
      for (let i = 0; i < changes.length; i++) {
        const change = changes[i] as StoredChange;
        const views = this.#viewsOfChange(change);
        if (views instanceof Promise) {
          this.#emit(events);
          this.#enqueueRest(changes.slice(i));
          return;
        }
        const event = eventFor(this.#type, change, views, this.#matches);
        if (event !== undefined) events.push(event);
      }
      this.#emit(events);
    } else this.#enqueueRest(changes);
  }

  #enqueueRest(changes: readonly StoredChange[]): void {
    for (const change of changes) {
      this.#enqueue(
        () => this.#viewsOfChange(change),
        (views) => {
          const event = eventFor(this.#type, change, views, this.#matches);
          if (event !== undefined) this.#emit([event]);
        },
      );
    }
  }

  #viewsOfChange(change: StoredChange): ChangeViews | Promise<ChangeViews> {
    const before = change.previous === undefined ? undefined : viewOf(this.#type, change.previous);
    const latest = change.current ?? change.deleted;
    const after = latest === undefined ? undefined : viewOf(this.#type, latest);
    if (before instanceof Promise || after instanceof Promise) {
      return Promise.all([before, after]).then(([b, a]) => ({ before: b, after: a }));
    }
    return { before, after };
  }

  /** Runs `use` with what `make` gives: at once if it can, else after everything that waits already. */
  #enqueue<T>(make: () => T | Promise<T>, use: (value: T) => void): void {
    if (this.#queue === undefined) {
      const value = make();
      if (!(value instanceof Promise)) {
        use(value);
        return;
      }
      this.#chain(value.then(use));
      return;
    }
    this.#chain(this.#queue.then(make).then(use));
  }

  #chain(work: Promise<void>): void {
    const mine = work
      .catch((error: unknown) => this.#fail(error))
      .then(() => {
        if (this.#queue === mine) this.#queue = undefined;
      });
    this.#queue = mine;
  }

  #emit(events: readonly OutgoingEvent[]): void {
    if (this.#stopped || events.length === 0) return;
    this.#sink.send(this.#transform === undefined ? events : events.map(this.#transform));
  }

  #scheduleBookmarks(timeoutMs: number): void {
    const { clock, store } = this.#core;
    const send = (): void => {
      // Taken now: changes that arrive while a webhook works are sent after this bookmark and must be newer than it.
      const revision = store.revision();
      this.#enqueue(
        () => revision,
        (at) => this.#emit([this.#bookmark(at, false)]),
      );
    };
    let cancel: () => void = () => {};
    const repeat = (): void => {
      cancel = clock.after(BOOKMARK_INTERVAL_MS, () => {
        send();
        repeat();
      });
    };
    repeat();
    this.#cancels.push(() => cancel());
    const last = timeoutMs - LAST_BOOKMARK_BEFORE_END_MS;
    if (last > 0) this.#cancels.push(clock.after(last, send));
  }

  /** client-go drops bookmarks of another kind than the watched one. */
  #bookmark(revision: number, initialEnd: boolean): OutgoingEvent {
    const { kind } = this.#type;
    const metadata = {
      resourceVersion: String(revision),
      ...(initialEnd ? { annotations: { "k8s.io/initial-events-end": "true" } } : {}),
    };
    return objectEvent("BOOKMARK", { kind, apiVersion: apiVersionOf(this.#type), metadata });
  }
}
