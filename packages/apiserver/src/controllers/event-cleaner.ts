import { isReason, type Unstructured } from "@capstan/apimachinery";
import type { InternalApi, ResourceKey } from "../types.ts";
import type { Controller, ControllerDeps } from "./deps.ts";
import { WorkList } from "./work-list.ts";

/** Events of events.k8s.io are stored as these. */
const EVENTS: ResourceKey = { group: "", plural: "events" };
/** kube-apiserver's default. */
const LIFETIME_MS = 3_600_000;
/** Events go in groups, so that a busy hour does not become as many timers one hour later. */
const GROUP_MS = 60_000;
/** A burst goes in pieces with others in between. */
const AT_ONCE = 100;
const PAUSE_MS = 10;

/** Deletes events one hour after they were last written. */
export function startEventCleaner(api: InternalApi, deps: ControllerDeps): Controller {
  const { clock } = deps;
  /** When events expire, the next of them first: all live equally long, so one that is written again goes to the end. */
  const expiries = new Map<string, number>();
  let cancelTimer: (() => void) | undefined;
  const work = new WorkList(
    clock,
    async (key) => {
      // Written again since it expired.
      if (!expiries.has(key)) await deleteEvent(api, key);
    },
    (key, error) => deps.log(`the expired event ${key} could not be deleted; trying again`, error),
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
  const found: [string, number][] = [];
  let started = false;
  const unsubscribe = api.watch(EVENTS, ({ namespace, name, object }) => {
    const key = `${namespace}/${name}`;
    if (!started) {
      if (object !== undefined) found.push([key, Math.min(lastWrite(object), clock.now()) + LIFETIME_MS]);
      return;
    }
    expiries.delete(key);
    if (object !== undefined) {
      expiries.set(key, clock.now() + LIFETIME_MS);
      if (cancelTimer === undefined) armForNext();
    } else if (expiries.size === 0) {
      cancelTimer?.();
      cancelTimer = undefined;
    }
  });
  started = true;
  for (const [key, at] of found.sort(([, a], [, b]) => a - b)) expiries.set(key, at);
  armForNext();
  return {
    stop: () => {
      unsubscribe();
      cancelTimer?.();
      expiries.clear();
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
    ...(uid === undefined ? {} : { uid }),
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
  };
  try {
    await api.delete(EVENTS, namespace, name, { preconditions });
  } catch (error) {
    if (!isReason(error, "NotFound", "Conflict")) throw error;
  }
}

/** When an event from before a restart was written last, as far as it tells. */
function lastWrite(event: Unstructured): number {
  const { creationTimestamp, managedFields = [] } = event.metadata;
  const series = event["series"] as { lastObservedTime?: unknown } | null | undefined;
  const told = [creationTimestamp, event["lastTimestamp"], series?.lastObservedTime];
  const times = [...told, ...managedFields.map(({ time }) => time)].map((time) =>
    typeof time === "string" ? Date.parse(time) : Number.NaN,
  );
  return Math.max(0, ...times.filter((time) => !Number.isNaN(time)));
}
