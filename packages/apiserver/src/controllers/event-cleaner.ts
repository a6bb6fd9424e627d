import { isReason, parseGroupVersion, type Unstructured } from "@capstan/apimachinery";
import type { InternalApi, ResourceKey } from "../types.ts";
import type { Controller, ControllerDeps } from "./deps.ts";
import { WorkList } from "./work-list.ts";

/** Events of events.k8s.io are stored as these. */
const EVENTS: ResourceKey = { group: "", plural: "events" };
/** kube-apiserver's default. */
const LIFETIME_MS = 3_600_000;
/** Events about clusters and their objects are a history that users read days later. */
const HISTORY_MS = 7 * 24 * 3_600_000;
const HISTORY_GROUP = /(^|\.)(cluster\.x-k8s\.io|capstan\.dev|metal3\.io)$/;
/** The newest events of one object that are kept as history. */
const PER_OBJECT = 50;
/** Events are deleted in groups, so that a busy hour does not cause as many timers an hour later. */
const GROUP_MS = 60_000;
/** A burst is deleted in pieces, so that other requests run in between. */
const AT_ONCE = 100;
const PAUSE_MS = 10;

/** Deletes events one hour after they were last written, those that are history after a week or when newer ones take their place. */
export function startEventCleaner(api: InternalApi, deps: ControllerDeps): Controller {
  const parts = [
    startCleaner(api, deps, { lifetimeMs: LIFETIME_MS, isMeant: (event) => !isHistory(event) }),
    startCleaner(api, deps, { lifetimeMs: HISTORY_MS, isMeant: isHistory, perObject: PER_OBJECT }),
  ];
  return {
    stop: () => {
      for (const part of parts) part.stop();
    },
    idle: () => parts.every((part) => part.idle()),
  };
}

/** Which events a cleaner is for, and how long they live. */
interface Lifetime {
  readonly lifetimeMs: number;
  isMeant(event: Unstructured): boolean;
  /** How many of one object live that long; undefined: all. */
  readonly perObject?: number;
}

function startCleaner(api: InternalApi, deps: ControllerDeps, options: Lifetime): Controller {
  const { clock } = deps;
  const { lifetimeMs, isMeant, perObject } = options;
  /** Keys of the events of each object, the one that was written longest ago first. */
  const byObject = new Map<string, Set<string>>();
  const note = (key: string, event: Unstructured): void => {
    if (perObject === undefined) return;
    const id = regarding(event);
    const keys = byObject.get(id) ?? new Set<string>();
    byObject.set(id, keys);
    keys.delete(key);
    keys.add(key);
    for (const oldest of keys) {
      if (keys.size <= perObject) break;
      keys.delete(oldest);
      expiries.delete(oldest);
      work.add(oldest);
    }
  };
  const forget = (key: string, event: Unstructured): void => {
    const keys = byObject.get(regarding(event));
    keys?.delete(key);
    if (keys?.size === 0) byObject.delete(regarding(event));
  };
  /** When events expire, the next of them first: all live equally long, so one that is written again goes to the end. */
  const expiries = new Map<string, number>();
  let cancelTimer: (() => void) | undefined;
  const work = new WorkList(
    clock,
    async (key) => {
      // Written again since then.
      if (!expiries.has(key)) await deleteEvent(api, key);
    },
    (key, error) => deps.log(`failed to delete the expired event ${key}; retrying`, error),
  );
  const arm = (delay: number): void => {
    cancelTimer ??= clock.after(delay, expire);
  };
  const armForNext = (): void => {
    const [next] = expiries.values();
    if (next !== undefined) arm(Math.ceil(next / GROUP_MS) * GROUP_MS - clock.now());
  };
  const expire = (): void => {
    cancelTimer = undefined;
    let count = 0;
    for (const [key, at] of expiries) {
      if (at > clock.now()) break;
      if (count++ === AT_ONCE) return arm(PAUSE_MS);
      expiries.delete(key);
      work.add(key);
    }
    armForNext();
  };
  const found: [string, number, Unstructured][] = [];
  let started = false;
  const unsubscribe = api.watch(EVENTS, ({ namespace, name, object, previous }) => {
    const event = object ?? previous;
    if (event === undefined || !isMeant(event)) return;
    const key = `${namespace}/${name}`;
    if (!started) {
      if (object !== undefined) found.push([key, Math.min(lastWrite(object), clock.now()) + lifetimeMs, object]);
      return;
    }
    expiries.delete(key);
    if (object === undefined) forget(key, event);
    if (object !== undefined) {
      expiries.set(key, clock.now() + lifetimeMs);
      note(key, object);
      if (cancelTimer === undefined) armForNext();
    } else if (expiries.size === 0) {
      cancelTimer?.();
      cancelTimer = undefined;
    }
  });
  started = true;
  for (const [key, at, event] of found.sort(([, a], [, b]) => a - b)) {
    expiries.set(key, at);
    note(key, event);
  }
  armForNext();
  return {
    stop: () => {
      unsubscribe();
      cancelTimer?.();
      expiries.clear();
      byObject.clear();
      work.stop();
    },
    idle: () => work.idle(),
  };
}

async function deleteEvent(api: InternalApi, key: string): Promise<void> {
  const slash = key.indexOf("/");
  const [namespace, name] = [key.slice(0, slash), key.slice(slash + 1)];
  const event = api.get(EVENTS, namespace, name);
  if (event === undefined) return;
  const { uid, resourceVersion } = event.metadata;
  const preconditions = {
    uid,
    resourceVersion,
  };
  try {
    await api.delete(EVENTS, namespace, name, { preconditions });
  } catch (error) {
    if (!isReason(error, "NotFound", "Conflict")) throw error;
  }
}

/** The object an event is about, in the form events are stored in. */
function involved(event: Unstructured): { apiVersion?: unknown; kind?: unknown; namespace?: unknown; name?: unknown } {
  return (event["involvedObject"] ?? {}) as ReturnType<typeof involved>;
}

function isHistory(event: Unstructured): boolean {
  const { apiVersion } = involved(event);
  return typeof apiVersion === "string" && HISTORY_GROUP.test(parseGroupVersion(apiVersion).group);
}

function regarding(event: Unstructured): string {
  const { kind, namespace, name } = involved(event);
  return `${String(kind)}/${String(namespace)}/${String(name)}`;
}

/** When an event from before a restart was last written, by its own timestamps. */
function lastWrite(event: Unstructured): number {
  const { creationTimestamp, managedFields = [] } = event.metadata;
  const series = event["series"] as { lastObservedTime?: unknown } | null | undefined;
  const timestamps = [creationTimestamp, event["lastTimestamp"], series?.lastObservedTime];
  const times = [...timestamps, ...managedFields.map(({ time }) => time)].map((time) =>
    typeof time === "string" ? Date.parse(time) : Number.NaN,
  );
  return Math.max(0, ...times.filter((time) => !Number.isNaN(time)));
}
