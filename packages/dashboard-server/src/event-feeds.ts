import { EventKind, type EventObject, Informer, type InformerDeps } from "@capstan/runtime";

interface Feed {
  readonly informer: Informer<EventObject>;
  readers: number;
}

const REGARDING = "regarding";

/** Watches the Events of a namespace only while a cluster in it is being viewed, because a fleet has far more Events than objects. */
export class EventFeeds {
  readonly #deps: Omit<InformerDeps, "server">;
  readonly #feeds = new Map<string, Feed>();
  readonly #onEvent: (namespace: string, id: string) => void;

  /** `onEvent` is called with the object (`Kind/name`) that each new Event is about. */
  constructor(deps: Omit<InformerDeps, "server">, onEvent: (namespace: string, id: string) => void) {
    this.#deps = deps;
    this.#onEvent = onEvent;
  }

  /** Watches a namespace until the result is called. */
  open(namespace: string): () => void {
    let feed = this.#feeds.get(namespace);
    if (feed === undefined) {
      const informer = new Informer(EventKind, { namespace }, { ...this.#deps, server: { watchList: true } });
      informer.store.addIndex(REGARDING, (event) => regardingId(event));
      const notify = (event: EventObject): void => this.#onEvent(namespace, regardingId(event));
      informer.addHandler({ add: notify, update: notify, delete: notify });
      informer.start();
      feed = { informer, readers: 0 };
      this.#feeds.set(namespace, feed);
    }
    const opened = feed;
    opened.readers++;
    let closed = false;
    return () => {
      if (closed) return;
      closed = true;
      if (--opened.readers > 0) return;
      this.#feeds.delete(namespace);
      void opened.informer.stop();
    };
  }

  /** Events about an object. */
  about(namespace: string, id: string): EventObject[] {
    return this.#feeds.get(namespace)?.informer.store.byIndex(REGARDING, id) ?? [];
  }

  async stop(): Promise<void> {
    const feeds = [...this.#feeds.values()];
    this.#feeds.clear();
    await Promise.all(feeds.map(({ informer }) => informer.stop()));
  }
}

function regardingId(event: EventObject): string {
  return `${event.regarding?.kind ?? ""}/${event.regarding?.name ?? ""}`;
}
