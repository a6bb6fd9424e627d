import { deepEqual, type JsonObject, MAX_DEPTH, setOwn, tooDeep } from "../json.ts";
import type { ApplyType, ListType, MapType } from "./apply-type.ts";
import { fieldType, granularList, granularMap } from "./owned-fields.ts";
import { itemElement, type PathElement } from "./path-element.ts";

/**
 * Lays an applied object over a live one. Neither is changed; the result shares parts with both, and whatever the applied object
 * leaves as it is stays the very same value: comparing and copying then cost in proportion to what changes.
 */
export function mergeObjects(type: ApplyType, live: JsonObject, applied: JsonObject): JsonObject {
  return merge(type, live, applied, 0) as JsonObject;
}

function merge(type: ApplyType, live: unknown, applied: unknown, depth: number): unknown {
  if (applied === undefined || live === applied) return live;
  if (live === undefined) return applied;
  if (depth > MAX_DEPTH) throw tooDeep();
  const { map, list } = type;
  if (map !== undefined && granularMap(type, live)) {
    if (granularMap(type, applied)) return mergeMaps(map, live, applied, depth);
    // An applied null says nothing about a container that holds something, unless the schema leaves the type open.
    if (applied === null && type.scalar === undefined && Object.keys(live).length > 0) return live;
  }
  if (list !== undefined && granularList(type, live)) {
    if (granularList(type, applied)) return mergeLists(list, live, applied, depth);
    if (applied === null && type.scalar === undefined && live.length > 0) return live;
  }
  return typeof applied === "object" && applied !== null && deepEqual(live, applied) ? live : applied;
}

function mergeMaps(map: MapType, live: JsonObject, applied: JsonObject, depth: number): JsonObject {
  let out: JsonObject | undefined;
  for (const key of Object.keys(applied)) {
    const over = applied[key];
    if (over === undefined) continue;
    const had = Object.hasOwn(live, key) ? live[key] : undefined;
    const merged = merge(fieldType(map, key), had, over, depth + 1);
    if (merged !== had) setOwn((out ??= { ...live }), key, merged);
  }
  return out ?? live;
}

interface Indexed {
  readonly elements: PathElement[];
  readonly items: unknown[];
  /** The item of each element; undefined when several share it, because then there is no one to merge with. */
  readonly byElement: Map<PathElement, unknown>;
}

function index(list: ListType, items: readonly unknown[]): Indexed {
  const out: Indexed = { elements: [], items: [], byElement: new Map() };
  for (const item of items) {
    const element = itemElement(list, item);
    if (typeof element !== "string") continue;
    out.elements.push(element);
    out.items.push(item);
    out.byElement.set(element, out.byElement.has(element) ? undefined : item);
  }
  return out;
}

/**
 * Joins two lists whose items have identities: applied items keep their order among themselves, live items theirs, and a
 * live item that is not applied stays before the next item both lists share.
 */
function mergeLists(list: ListType, liveItems: unknown[], appliedItems: unknown[], depth: number): unknown[] {
  if (appliedItems.length === 0) return liveItems;
  const live = index(list, liveItems);
  const applied = index(list, appliedItems);
  const shared = applied.elements.filter((e) => live.byElement.has(e));
  const done = new Set<PathElement>();
  const out: unknown[] = [];
  let nextShared = 0;
  let l = 0;
  let a = 0;
  const take = (element: PathElement): void => {
    out.push(merge(list.item, live.byElement.get(element), applied.byElement.get(element), depth + 1));
    done.add(element);
    if (shared[nextShared] === element) nextShared++;
    a++;
  };
  while (l < live.elements.length || a < applied.elements.length) {
    const liveElement = live.elements[l];
    const appliedElement = applied.elements[a];
    if (liveElement === undefined) {
      if (appliedElement !== undefined) take(appliedElement);
    } else if (liveElement === appliedElement) {
      take(liveElement);
      l++;
    } else if (!applied.byElement.has(liveElement)) {
      out.push(live.items[l]);
      l++;
    } else if (appliedElement !== undefined && nextShared < shared.length && liveElement !== shared[nextShared]) {
      // Shared, but not its turn: it comes, or came, at its place in the applied order.
      l++;
    } else {
      if (done.has(liveElement)) l++;
      if (appliedElement !== undefined) take(appliedElement);
    }
  }
  return out.length === liveItems.length && out.every((item, i) => item === liveItems[i]) ? liveItems : out;
}
