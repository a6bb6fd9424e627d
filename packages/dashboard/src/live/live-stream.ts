import type { StreamMessage } from "@capstan/dashboard-server";
import type { TopicStore } from "./topic-store.ts";

/** State of the stream's connection. */
export type Connection = "idle" | "connecting" | "live" | "lost" | "signed-out";

/** Receives the events of a connection. */
export interface ConnectionHandlers {
  opened(): void;
  message(data: string, id: string): void;
  lost(): void;
  signedOut(): void;
}

/** Dependencies of the stream. */
export interface LiveStreamOptions {
  /** Opens a connection; the result closes it. */
  readonly open: (url: string, handlers: ConnectionHandlers) => () => void;
  readonly after: (ms: number, fire: () => void) => () => void;
  /** Whether the session is still good; asked when the connection is lost. */
  readonly signedIn: () => Promise<boolean>;
  readonly store: TopicStore;
}

const FIRST_RETRY_MS = 250;
const MAX_RETRY_MS = 3_000;
/** Leaving one page and entering the next changes the topics twice: one new connection serves both. */
const SETTLE_MS = 20;

/**
 * The single event stream of a browser tab. Each topic remembers its last event ID, and a new connection resumes from there; a server that
 * does not know the ID, because it was restarted, sends everything again.
 */
export class LiveStream {
  readonly #options: LiveStreamOptions;
  readonly #readers = new Map<string, number>();
  readonly #seen = new Map<string, string>();
  readonly #listeners = new Set<() => void>();
  #close: (() => void) | undefined;
  #connected: string[] = [];
  #cancel: (() => void) | undefined;
  #retryMs = FIRST_RETRY_MS;
  #connection: Connection = "idle";

  constructor(options: LiveStreamOptions) {
    this.#options = options;
  }

  get connection(): Connection {
    return this.#connection;
  }

  /** Follows a topic until the result is called. */
  follow(topic: string): () => void {
    this.#readers.set(topic, (this.#readers.get(topic) ?? 0) + 1);
    this.#settle();
    return () => {
      const left = (this.#readers.get(topic) ?? 1) - 1;
      if (left > 0) this.#readers.set(topic, left);
      else this.#readers.delete(topic);
      this.#settle();
    };
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Starts again after signing in. */
  reconnect(): void {
    this.#retryMs = FIRST_RETRY_MS;
    this.#connect();
  }

  #settle(): void {
    this.#cancel?.();
    this.#cancel = this.#options.after(SETTLE_MS, () => {
      const wanted = [...this.#readers.keys()];
      const same = wanted.length === this.#connected.length && wanted.every((topic) => this.#connected.includes(topic));
      if (!same || this.#close === undefined) this.#connect();
    });
  }

  #connect(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    this.#close?.();
    this.#close = undefined;
    for (const topic of this.#connected)
      if (!this.#readers.has(topic)) {
        this.#seen.delete(topic);
        this.#options.store.drop(topic);
      }
    this.#connected = [...this.#readers.keys()];
    if (this.#connected.length === 0) {
      // Without topics there is nothing to connect for.
      this.#become("idle");
      return;
    }
    if (this.#connection === "idle") this.#become("connecting");
    const query = new URLSearchParams();
    for (const topic of this.#connected) {
      const seen = this.#seen.get(topic);
      query.append("topic", seen === undefined ? topic : `${topic}@${seen}`);
    }
    let current = true;
    const close = this.#options.open(`/stream?${query.toString()}`, {
      opened: () => {
        this.#retryMs = FIRST_RETRY_MS;
        this.#become("live");
      },
      message: (data, id) => {
        for (const message of JSON.parse(data) as StreamMessage[]) this.#options.store.apply(message);
        for (const topic of this.#connected) this.#seen.set(topic, id);
      },
      lost: () => {
        if (current) this.#lost();
      },
      signedOut: () => this.#end(),
    });
    this.#close = () => {
      current = false;
      close();
    };
  }

  #lost(): void {
    this.#close?.();
    this.#close = undefined;
    this.#become("lost");
    this.#cancel?.();
    this.#cancel = this.#options.after(this.#retryMs, () => {
      this.#retryMs = Math.min(this.#retryMs * 2, MAX_RETRY_MS);
      void this.#options.signedIn().then((good) => (good ? this.#connect() : this.#end()));
    });
  }

  #end(): void {
    this.#close?.();
    this.#close = undefined;
    this.#cancel?.();
    this.#become("signed-out");
  }

  #become(connection: Connection): void {
    if (this.#connection === connection) return;
    this.#connection = connection;
    for (const listener of this.#listeners) listener();
  }
}
