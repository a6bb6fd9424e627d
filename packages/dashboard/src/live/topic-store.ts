import type { StreamMessage } from "@capstan/dashboard-server";

/** The content of a topic. Every change creates a new object, so that React notices it. */
export interface TopicState<T = unknown> {
  /** False until the server has sent data. */
  readonly known: boolean;
  readonly items: ReadonlyMap<string, T>;
}

const EMPTY: TopicState = { known: false, items: new Map() };

/** Holds the content of all topics, as the stream delivers it. */
export class TopicStore {
  readonly #states = new Map<string, TopicState>();
  readonly #listeners = new Map<string, Set<() => void>>();

  state(topic: string): TopicState {
    return this.#states.get(topic) ?? EMPTY;
  }

  /** Takes in what changed. */
  apply(message: StreamMessage): void {
    const items = message.reset === true ? new Map<string, unknown>() : new Map(this.state(message.topic).items);
    for (const [key, item] of message.set) items.set(key, item);
    for (const key of message.del) items.delete(key);
    this.#states.set(message.topic, { known: true, items });
    this.#notify(message.topic);
  }

  /** Drops a topic without readers. */
  drop(topic: string): void {
    if (this.#states.delete(topic)) this.#notify(topic);
  }

  subscribe(topic: string, listener: () => void): () => void {
    const listeners = this.#listeners.get(topic) ?? new Set();
    this.#listeners.set(topic, listeners.add(listener));
    return () => listeners.delete(listener);
  }

  #notify(topic: string): void {
    for (const listener of this.#listeners.get(topic) ?? []) listener();
  }
}
