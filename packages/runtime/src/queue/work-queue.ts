import type { Clock } from "@capstan/apimachinery";
import { Fifo } from "./fifo.ts";
import { Heap } from "./heap.ts";
import { type RetryLimiter, type RetryOptions, retryLimiter } from "./rate-limit.ts";

/** Priority of changed objects. Higher priorities are processed first. */
export const PRIORITY_NORMAL = 0;
/** Priority of objects that existed at startup, as in controller-runtime, so that changes do not wait behind them. */
export const PRIORITY_LOW = -100;

/** A snapshot of a queue. */
export interface QueueState {
  /** How many keys wait, by priority. */
  readonly depths: ReadonlyMap<number, number>;
  /** How long the keys that are worked on now have been, taken together. */
  readonly unfinishedMs: number;
  /** How long the longest of them has been: grows without bound when a reconcile is stuck. */
  readonly longestMs: number;
}

/** Receives counts and durations of a queue, for metrics. */
export interface QueueObserver {
  /** Gives the way to ask for the state; once, before all else. */
  watched(state: () => QueueState): void;
  added(): void;
  taken(waitedMs: number): void;
  finished(workedMs: number): void;
  retried(): void;
}

/** Settings of a work queue. */
export interface WorkQueueOptions {
  readonly clock: Clock;
  readonly retries?: RetryOptions | undefined;
  readonly observer?: QueueObserver | undefined;
  /** Called whenever `take` may have something; cheap and often. */
  readonly onAvailable?: (() => void) | undefined;
}

interface Item {
  readonly key: string;
  /** Priority under which the item waits; undefined when it does not. */
  queued: number | undefined;
  queuedAt: number;
  /** Being worked on, since then. */
  startedAt: number | undefined;
  /** Added again while being worked on, with this priority. */
  again: number | undefined;
  /** When a delayed add is due. */
  dueAt: number | undefined;
  duePriority: number;
}

interface Delayed {
  at: number;
  item: Item;
}

/** So many entries that will not happen any more are held at least before they are looked for. */
const SLACK = 64;

function isDue({ at, item }: Delayed): boolean {
  return item.dueAt === at;
}

/**
 * A queue of keys like client-go's workqueue: a key is queued at most once, is never processed concurrently, and is requeued when added
 * during processing. Operations take constant time, delayed adds logarithmic time.
 */
export class WorkQueue {
  readonly #clock: Clock;
  readonly #limiter: RetryLimiter;
  readonly #observer: QueueObserver | undefined;
  readonly #onAvailable: () => void;
  readonly #items = new Map<string, Item>();
  readonly #levels = new Map<number, Fifo<Item>>();
  #order: number[] = [];
  #depth = 0;
  readonly #depths = new Map<number, number>([[PRIORITY_NORMAL, 0]]);
  readonly #delayed = new Heap<Delayed>((a, b) => a.at < b.at);
  /** How many items have a delayed add; the heap also holds those that were overtaken or forgotten. */
  #due = 0;
  #timer: { at: number; cancel: () => void } | undefined;
  #closed = false;

  constructor(options: WorkQueueOptions) {
    this.#clock = options.clock;
    this.#limiter = retryLimiter(options.clock, options.retries);
    this.#observer = options.observer;
    this.#onAvailable = options.onAvailable ?? (() => undefined);
    this.#observer?.watched(() => this.#state());
  }

  /** How many keys wait now; delayed ones do not count. */
  get depth(): number {
    return this.#depth;
  }

  /** How many delayed adds are held, those included that will not happen any more. */
  get held(): number {
    return this.#delayed.size;
  }

  /** How often a key failed in a row. */
  failures(key: string): number {
    return this.#limiter.failures(key);
  }

  /** Adds a key; if it waits already, the higher priority counts. */
  add(key: string, priority = PRIORITY_NORMAL): void {
    if (!this.#closed) this.#enqueue(this.#item(key), priority);
  }

  /** Adds a key later; of several delayed adds the earliest counts. */
  addAfter(key: string, ms: number, priority = PRIORITY_NORMAL): void {
    if (this.#closed) return;
    if (ms <= 0) {
      this.add(key, priority);
      return;
    }
    const item = this.#item(key);
    const at = this.#clock.monotonic() + ms;
    item.duePriority = item.dueAt === undefined ? priority : Math.max(item.duePriority, priority);
    if (item.dueAt !== undefined && item.dueAt <= at) return;
    if (item.dueAt === undefined) this.#due++;
    item.dueAt = at;
    this.#delayed.push({ at, item });
    // What comes back in an hour, and meanwhile is worked on a thousand times, must not be held a thousand times.
    if (this.#delayed.size > 2 * this.#due + SLACK) this.#delayed.keep(isDue);
    this.#arm();
  }

  /** Adds a key after its backoff. */
  addRateLimited(key: string, priority = PRIORITY_NORMAL): void {
    this.#observer?.retried();
    this.addAfter(key, this.#limiter.when(key), priority);
  }

  /** Forgets a key's failures. */
  forget(key: string): void {
    this.#limiter.forget(key);
  }

  /**
   * The next key, now being worked on; undefined when none waits. Each must be ended by `done`. A delayed add of the key is
   * forgotten: the work that starts now decides again when to requeue.
   */
  take(): string | undefined {
    for (const priority of this.#order) {
      const level = this.#levels.get(priority);
      if (level === undefined) continue;
      for (let item = level.shift(); item !== undefined; item = level.shift()) {
        // Entries left behind when an item was moved to a higher priority.
        if (item.queued !== priority) continue;
        this.#start(item);
        return item.key;
      }
    }
    return undefined;
  }

  /** Marks the work on a key as done. */
  done(key: string): void {
    const item = this.#items.get(key);
    if (item?.startedAt === undefined) return;
    this.#observer?.finished(this.#clock.monotonic() - item.startedAt);
    item.startedAt = undefined;
    const again = item.again;
    item.again = undefined;
    if (again !== undefined && !this.#closed) this.#enqueue(item, again);
    else this.#drop(item);
  }

  /** Takes no more keys and drops those that wait. */
  close(): void {
    this.#closed = true;
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#levels.clear();
    this.#order = [];
    this.#depth = 0;
    this.#depths.clear();
  }

  #state(): QueueState {
    const now = this.#clock.monotonic();
    let unfinishedMs = 0;
    let longestMs = 0;
    for (const { startedAt } of this.#items.values()) {
      if (startedAt === undefined) continue;
      unfinishedMs += now - startedAt;
      longestMs = Math.max(longestMs, now - startedAt);
    }
    return { depths: this.#depths, unfinishedMs, longestMs };
  }

  /** Notes that so many more keys, or fewer, wait under a priority. */
  #count(priority: number, more: number): void {
    this.#depths.set(priority, (this.#depths.get(priority) ?? 0) + more);
  }

  #item(key: string): Item {
    let item = this.#items.get(key);
    if (item === undefined) {
      item = {
        key,
        queued: undefined,
        queuedAt: 0,
        startedAt: undefined,
        again: undefined,
        dueAt: undefined,
        duePriority: 0,
      };
      this.#items.set(key, item);
    }
    return item;
  }

  /** Items live in the map only while something is to be done with them. */
  #drop(item: Item): void {
    if (item.queued === undefined && item.startedAt === undefined && item.dueAt === undefined) {
      this.#items.delete(item.key);
    }
  }

  #enqueue(item: Item, priority: number): void {
    if (item.startedAt !== undefined) {
      item.again = item.again === undefined ? priority : Math.max(item.again, priority);
      return;
    }
    if (item.queued !== undefined && item.queued >= priority) return;
    if (item.queued === undefined) {
      this.#depth++;
      item.queuedAt = this.#clock.monotonic();
      this.#observer?.added();
    } else this.#count(item.queued, -1);
    this.#count(priority, 1);
    item.queued = priority;
    this.#level(priority).push(item);
    this.#onAvailable();
  }

  #start(item: Item): void {
    const now = this.#clock.monotonic();
    this.#depth--;
    if (item.queued !== undefined) this.#count(item.queued, -1);
    item.queued = undefined;
    item.startedAt = now;
    if (item.dueAt !== undefined) this.#due--;
    item.dueAt = undefined;
    this.#observer?.taken(now - item.queuedAt);
  }

  #level(priority: number): Fifo<Item> {
    let level = this.#levels.get(priority);
    if (level === undefined) {
      level = new Fifo();
      this.#levels.set(priority, level);
      this.#order = [...this.#levels.keys()].sort((a, b) => b - a);
    }
    return level;
  }

  /** One timer for all delayed keys, set for the earliest. */
  #arm(): void {
    const next = this.#delayed.peek();
    if (next === undefined || (this.#timer !== undefined && this.#timer.at <= next.at)) return;
    this.#timer?.cancel();
    const cancel = this.#clock.after(Math.max(0, next.at - this.#clock.monotonic()), () => {
      this.#timer = undefined;
      this.#releaseDue();
    });
    this.#timer = { at: next.at, cancel };
  }

  #releaseDue(): void {
    const now = this.#clock.monotonic();
    for (let next = this.#delayed.peek(); next !== undefined && next.at <= now; next = this.#delayed.peek()) {
      this.#delayed.pop();
      const { item } = next;
      // An entry whose item is due at another time was overtaken by an earlier one.
      if (!isDue(next)) continue;
      this.#due--;
      item.dueAt = undefined;
      this.#enqueue(item, item.duePriority);
    }
    this.#arm();
  }
}
