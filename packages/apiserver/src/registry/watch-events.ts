import { deepFreeze, type Unstructured, type WatchEvent } from "@capstan/apimachinery";
import type { StoredChange } from "../store/object-store.types.ts";
import type { ResourceType } from "../types.ts";
import type { View } from "./views.ts";

/** An event ready to be sent: parsed for watchers in process, one JSON line for sockets. Made once and shared by all watchers. */
export interface OutgoingEvent {
  readonly event: WatchEvent;
  /** The JSON line with its line break. */
  line(): Buffer;
}

type EventType = WatchEvent["type"];

const TAIL = Buffer.from("}\n");
const HEADS = new Map<EventType, Buffer>(
  (["ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR"] as const).map((type) => [
    type,
    Buffer.from(`{"type":"${type}","object":`),
  ]),
);

class ViewEvent implements OutgoingEvent {
  readonly event: WatchEvent;
  readonly #view: View;
  #encoded: Buffer | undefined;

  constructor(type: EventType, view: View) {
    this.#view = view;
    this.event = { type, object: view.object };
  }

  line(): Buffer {
    this.#encoded ??= Buffer.concat([HEADS.get(this.event.type) ?? TAIL, this.#view.bytes, TAIL]);
    return this.#encoded;
  }
}

/** An event around any object: bookmarks, errors, tables, partial metadata. */
export function objectEvent(type: EventType, object: object): OutgoingEvent {
  const event = { type, object: object as Unstructured };
  return { event, line: () => Buffer.from(`${JSON.stringify(event)}\n`) };
}

/** An event around a view, for the initial state of a watch. */
export function viewEvent(type: EventType, view: View): OutgoingEvent {
  return new ViewEvent(type, view);
}

/** Views of the states before and after a change, as one type shows them. */
export interface ChangeViews {
  readonly before: View | undefined;
  readonly after: View | undefined;
}

const shared = new WeakMap<StoredChange, Map<string, OutgoingEvent>>();

/**
 * The event a change makes for a watcher, or undefined when it concerns none of its objects. Entering the selection is ADDED, leaving
 * it DELETED with the previous object under the change's own resourceVersion.
 */
export function eventFor(
  type: ResourceType,
  change: StoredChange,
  views: ChangeViews,
  matches: (object: Unstructured) => boolean,
): OutgoingEvent | undefined {
  const was = views.before !== undefined && matches(views.before.object);
  if (change.current === undefined) {
    return was && views.after !== undefined ? sharedEvent(type, change, "DELETED", views.after) : undefined;
  }
  const is = views.after !== undefined && matches(views.after.object);
  if (is && views.after !== undefined) return sharedEvent(type, change, was ? "MODIFIED" : "ADDED", views.after);
  if (!was || views.before === undefined) return undefined;
  return sharedEvent(type, change, "DELETED", departed(views.before, change.revision));
}

function sharedEvent(type: ResourceType, change: StoredChange, eventType: EventType, view: View): OutgoingEvent {
  let events = shared.get(change);
  if (events === undefined) {
    events = new Map();
    shared.set(change, events);
  }
  const key = `${eventType}/${type.group}/${type.version}`;
  let event = events.get(key);
  if (event === undefined) {
    event = new ViewEvent(eventType, view);
    events.set(key, event);
  }
  return event;
}

function departed(before: View, revision: number): View {
  const { object } = before;
  const gone = deepFreeze({ ...object, metadata: { ...object.metadata, resourceVersion: String(revision) } });
  return {
    object: gone,
    get bytes() {
      return Buffer.from(JSON.stringify(gone));
    },
  };
}
