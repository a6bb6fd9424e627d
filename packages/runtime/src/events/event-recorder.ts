import {
  type Clock,
  formatMicroTime,
  isReason,
  type KubeObject,
  type Random,
  randomSuffix,
  sleep,
} from "@capstan/apimachinery";
import type { Client } from "../client/client.ts";
import { type Logger, silentLogger } from "../log/logger.ts";
import { redactText } from "../log/redact.ts";
import { EventKind, type EventObject } from "./event-kind.ts";
import type { Recorder } from "./recorder.ts";

/** A series ends when nothing was added to it for this long; upstream's numbers. */
const FINISH_MS = 6 * 60_000;
/** How often a continuing series is written. */
const REFRESH_MS = 30 * 60_000;
const MAX_NOTE_BYTES = 1024;
const MAX_WAITING = 1000;
/** This many notes of one kind of event stay separate, as in upstream's aggregator of core events; further ones become one series. */
const MAX_NOTES = 10;
/** So many kinds of events are counted at a time; beyond that, the oldest series ends early. client-go has 4096. */
const MAX_KNOWN = 4096;
const MAX_TRIES = 12;
const RETRY_MS = 10_000;
/** How long stopping may wait for what is being written. */
const FLUSH_MS = 5_000;

/** Settings of an event recorder: its client, and the names under which it reports. */
export interface EventRecorderOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  /** The reporting controller, e.g. `capstan.dev/manager`; controllers report as `capstan.dev/NAME`. */
  readonly controller: string;
  /** Which process, e.g. the host name. */
  readonly instance: string;
  readonly log?: Logger | undefined;
}

interface Known {
  /** Type, reason, action and object, without the note. */
  readonly about: string;
  event: EventObject;
  lastSeen: number;
  writtenAt: number;
  writtenCount: number;
}

/**
 * Writes events.k8s.io/v1 Events like client-go's recorder: the first one is created, the second turns it into a series, and further ones
 * are counted until the series ends or every half hour. Unlike in client-go, a different note is a separate Event: scaling from 0 to 2 and
 * then from 2 to 3 are two Events.
 */
export class EventRecorder implements Recorder {
  readonly #options: EventRecorderOptions;
  readonly #log: Logger;
  readonly #known = new Map<string, Known>();
  /** How many notes of each kind of event are known. */
  readonly #notes = new Map<string, number>();
  readonly #waiting: (() => Promise<void>)[] = [];
  /** Stops waiting for retries; requests in flight may finish. */
  readonly #closing = new AbortController();
  readonly #abandon = new AbortController();
  #writing: Promise<void> | undefined;
  #cancelSweep: (() => void) | undefined;
  #dropped = 0;

  constructor(options: EventRecorderOptions) {
    this.#options = options;
    this.#log = options.log ?? silentLogger;
  }

  event(object: KubeObject, type: "Normal" | "Warning", reason: string, action: string, note: string): void {
    this.#record(this.#options.controller, object, type, reason, action, note);
  }

  named(controller: string): Recorder {
    // The API wants a qualified name, which has one slash.
    const domain = this.#options.controller.split("/")[0] ?? "";
    const reporter = `${domain}/${controller}`;
    return { event: (object, ...rest) => this.#record(reporter, object, ...rest) };
  }

  #record(reporter: string, ...[object, type, reason, action, note]: Parameters<Recorder["event"]>): void {
    if (this.#closing.signal.aborted) return;
    const { clock } = this.#options;
    const { uid, namespace, name } = object.metadata;
    const about = [reporter, type, reason, action, object.apiVersion, object.kind, namespace, name, uid].join("\n");
    const many = !this.#known.has(`${about}\n${note}`) && (this.#notes.get(about) ?? 0) >= MAX_NOTES;
    const key = many ? about : `${about}\n${note}`;
    const known = this.#known.get(key);
    if (known === undefined) {
      const text = many ? `(combined from similar events): ${note}` : note;
      const event = this.#newEvent(reporter, object, type, reason, action, text);
      const nowMs = clock.monotonic();
      this.#known.set(key, { about, event, lastSeen: nowMs, writtenAt: nowMs, writtenCount: 1 });
      this.#notes.set(about, (this.#notes.get(about) ?? 0) + 1);
      this.#enqueue(async () => void (await this.#options.client.create(event, {}, this.#abandon.signal)));
      this.#scheduleSweep();
      for (const [oldest, series] of this.#known) {
        if (this.#known.size <= MAX_KNOWN) break;
        this.#forget(oldest, series);
      }
      return;
    }
    known.lastSeen = clock.monotonic();
    const first = known.event.series === undefined;
    const count = (known.event.series?.count ?? 1) + 1;
    known.event = { ...known.event, series: { count, lastObservedTime: formatMicroTime(clock.now()) } };
    if (first) this.#writeSeries(known);
  }

  /** Writes pending Events without retries, and stops. */
  async stop(): Promise<void> {
    for (const known of this.#known.values()) this.#writeSeriesIfNew(known);
    this.#known.clear();
    this.#notes.clear();
    this.#cancelSweep?.();
    this.#closing.abort(new Error("the recorder was stopped"));
    const cancel = this.#options.clock.after(FLUSH_MS, () =>
      this.#abandon.abort(new Error("the recorder was stopped")),
    );
    await this.#writing;
    cancel();
  }

  #newEvent(reporter: string, ...[object, type, reason, action, note]: Parameters<Recorder["event"]>): EventObject {
    const { clock, random, instance } = this.#options;
    const { namespace, name = "", uid, resourceVersion } = object.metadata;
    return {
      apiVersion: "events.k8s.io/v1",
      kind: "Event",
      metadata: {
        name: `${name.slice(0, 230)}.${clock.now().toString(16)}${randomSuffix(random, 4)}`,
        // Events of cluster-scoped objects live in the default namespace.
        namespace: namespace ?? "default",
      },
      eventTime: formatMicroTime(clock.now()),
      reportingController: reporter,
      reportingInstance: instance.slice(0, 128),
      action: action.slice(0, 128),
      reason: reason.slice(0, 128),
      regarding: {
        apiVersion: object.apiVersion,
        kind: object.kind,
        name,
        namespace,
        uid,
        resourceVersion,
      },
      note: cutToBytes(redactText(note), MAX_NOTE_BYTES),
      type,
    };
  }

  #forget(key: string, known: Known): void {
    this.#writeSeriesIfNew(known);
    this.#known.delete(key);
    const left = (this.#notes.get(known.about) ?? 1) - 1;
    if (left === 0) this.#notes.delete(known.about);
    else this.#notes.set(known.about, left);
  }

  #writeSeriesIfNew(known: Known): void {
    if ((known.event.series?.count ?? 1) > known.writtenCount) this.#writeSeries(known);
  }

  #writeSeries(known: Known): void {
    const { client, clock } = this.#options;
    known.writtenAt = clock.monotonic();
    known.writtenCount = known.event.series?.count ?? 1;
    const { event } = known;
    const { name = "", namespace } = event.metadata;
    this.#enqueue(async () => {
      try {
        await client.patch({ kind: EventKind, namespace, name }, { series: event.series }, {}, this.#abandon.signal);
      } catch (error) {
        // The server drops events after an hour: start a new one.
        if (!isReason(error, "NotFound")) throw error;
        await client.create(event, {}, this.#abandon.signal);
      }
    });
  }

  #enqueue(write: () => Promise<void>): void {
    if (this.#waiting.length >= MAX_WAITING) {
      // Events are hints: they must not fill the memory when the server is away.
      if (this.#dropped++ === 0) this.#log.warn("too many events are pending; dropping some");
      return;
    }
    this.#waiting.push(write);
    this.#writing ??= this.#drain().finally(() => {
      this.#writing = undefined;
    });
  }

  async #drain(): Promise<void> {
    // Let the caller continue: recording must never run ahead of its own work.
    await Promise.resolve();
    for (let write = this.#waiting.shift(); write !== undefined; write = this.#waiting.shift())
      await this.#attempt(write);
  }

  async #attempt(write: () => Promise<void>): Promise<void> {
    for (let tries = 1; ; tries++) {
      try {
        await write();
        return;
      } catch (error) {
        // What the server refuses it will refuse again; only unreachable servers are worth waiting for.
        const refused = isReason(error, "Forbidden", "NotFound", "Invalid", "BadRequest", "AlreadyExists", "Conflict");
        if (refused || tries >= MAX_TRIES || this.#closing.signal.aborted) {
          this.#log.debug("failed to write an event", { error });
          return;
        }
      }
      await sleep(this.#options.clock, RETRY_MS, this.#closing.signal).catch(() => undefined);
    }
  }

  /** Runs only while there are events to look after, so that a silent system has no timer. */
  #scheduleSweep(): void {
    this.#cancelSweep ??= this.#options.clock.after(FINISH_MS, () => {
      this.#cancelSweep = undefined;
      this.#sweep();
      if (this.#known.size > 0) this.#scheduleSweep();
    });
  }

  #sweep(): void {
    const now = this.#options.clock.monotonic();
    for (const [key, known] of this.#known) {
      if (now - known.lastSeen >= FINISH_MS) {
        this.#forget(key, known);
      } else if (now - known.writtenAt >= REFRESH_MS) this.#writeSeriesIfNew(known);
    }
  }
}

function cutToBytes(text: string, bytes: number): string {
  if (Buffer.byteLength(text) <= bytes) return text;
  return `${Buffer.from(text)
    .subarray(0, bytes - 3)
    .toString("utf8")
    .replace(/\uFFFD+$/, "")}…`;
}
