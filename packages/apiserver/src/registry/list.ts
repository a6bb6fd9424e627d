import { ApiError, badRequest, expired, type ListMeta, notFound, tooLargeResourceVersion } from "@capstan/apimachinery";
import { yieldToEventLoop } from "@capstan/apimachinery/foreign";
import { type ListOptions, parseResourceVersion, resourceVersionProblem } from "../server/query-options.ts";
import type { StoredObject } from "../store/object-store.types.ts";
import { CompactedError } from "../store/store.ts";
import type { ResourceType } from "../types.ts";
import { decodeContinue, encodeContinue } from "./continue-token.ts";
import { groupResource, type RegistryCore } from "./core.ts";
import { derivedViews } from "./derived.ts";
import { requestedKey, storageKey, storagePrefix } from "./keys.ts";
import { type Selection, selectionOf } from "./selection.ts";
import { type View, viewOf, viewsOf } from "./views.ts";

/** A page of a list, in the requested version. */
export interface ListPage {
  readonly meta: ListMeta;
  readonly items: readonly View[];
  /** Selectors may have left out objects between the first and the last. */
  readonly chosen: boolean;
}

/** How long a read waits for a revision that does not exist yet before it answers 504. */
const FUTURE_REVISION_WAIT_MS = 3000;

/** Reads one object. */
export async function getObject(
  core: RegistryCore,
  type: ResourceType,
  namespace: string,
  name: string,
  resourceVersion: string,
): Promise<View> {
  if (resourceVersion !== "") {
    if (!/^\d{1,20}$/.test(resourceVersion)) throw badRequest(resourceVersionProblem(resourceVersion));
    await reach(core, Number(resourceVersion));
  }
  if (type.derived !== undefined) {
    const view = derivedViews(type, core.types, core.store.revision()).find((v) => v.object.metadata.name === name);
    if (view === undefined) throw notFound(groupResource(type), name);
    return view;
  }
  const stored = core.store.get(requestedKey(type, namespace, name));
  if (stored === undefined) throw notFound(groupResource(type), name);
  return viewOf(type, stored);
}

/** Waits for a revision a client has seen somewhere; 504 with retry advice when it does not come. */
export async function reach(core: RegistryCore, revision: number): Promise<void> {
  if (revision <= core.store.revision()) return;
  if (await core.store.waitFor(revision, FUTURE_REVISION_WAIT_MS)) return;
  throw tooLargeResourceVersion(revision, core.store.revision());
}

/** Lists by the resource version rules of Kubernetes, filtered and paged. */
export async function listObjects(
  core: RegistryCore,
  type: ResourceType,
  namespace: string,
  options: ListOptions,
): Promise<ListPage> {
  const selection = selectionOf(type, options.labelSelector, options.fieldSelector);
  if (type.derived !== undefined) {
    const revision = core.store.revision();
    return page({ revision, prefix: "", items: [] }, derivedViews(type, core.types, revision), selection, 0);
  }
  const snapshot = await takeSnapshot(core, type, namespace, options, selection);
  const custom = viewsOf(type, snapshot.items);
  const items = custom instanceof Promise ? await custom : custom;
  // Upstream's watch cache ignores the limit of a list that accepts any version.
  const limit = options.resourceVersion === "0" && options.continue === "" ? 0 : options.limit;
  return page(snapshot, items, selection, limit);
}

interface Snapshot {
  readonly revision: number;
  readonly prefix: string;
  readonly items: readonly StoredObject[];
}

async function takeSnapshot(
  core: RegistryCore,
  type: ResourceType,
  namespace: string,
  options: ListOptions,
  selection: Selection,
): Promise<Snapshot> {
  const prefix = storagePrefix(type, namespace);
  if (options.continue !== "") return continued(core, prefix, options.continue);
  const revision = parseResourceVersion(options.resourceVersion);
  if (revision !== undefined) await reach(core, revision);
  const exact = options.resourceVersionMatch === "Exact" || (options.resourceVersionMatch === "" && options.limit > 0);
  if (revision !== undefined && revision > 0 && exact) return snapshotAt(core, prefix, revision);
  if (selection.name !== undefined && (namespace !== "" || !type.namespaced)) {
    const stored = core.store.get(storageKey(type, namespace, selection.name));
    return { revision: core.store.revision(), prefix, items: stored === undefined ? [] : [stored] };
  }
  return { prefix, ...core.store.list(prefix) };
}

async function snapshotAt(core: RegistryCore, prefix: string, revision: number): Promise<Snapshot> {
  if (revision === core.store.revision()) return { prefix, ...core.store.list(prefix) };
  try {
    return { revision, prefix, items: await core.store.listAt(prefix, revision) };
  } catch (error) {
    if (!(error instanceof CompactedError)) throw error;
    throw expired(
      `The resourceVersion for the provided list is too old: ${revision} (${error.compactedRevision}); list again without it`,
    );
  }
}

async function continued(core: RegistryCore, prefix: string, text: string): Promise<Snapshot> {
  const token = decodeContinue(text);
  const start = prefix + token.start;
  let snapshot: Snapshot;
  if (token.revision === -1) snapshot = { prefix, ...core.store.list(prefix) };
  else {
    try {
      await reach(core, token.revision);
      snapshot = await snapshotAt(core, prefix, token.revision);
    } catch (error) {
      if (!(error instanceof ApiError) || error.reason !== "Expired") throw error;
      const message =
        "The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.";
      throw expired(message, encodeContinue({ revision: -1, start: token.start }));
    }
  }
  return { ...snapshot, items: from(snapshot.items, start) };
}

/** The tail of key-ordered items beginning at the first key not below `start`. */
function from(items: readonly StoredObject[], start: string): readonly StoredObject[] {
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((items[middle]?.key ?? "") < start) low = middle + 1;
    else high = middle;
  }
  return items.slice(low);
}

/** A selector may have thousands of terms: this many comparisons take some milliseconds. */
const COMPARED_AT_ONCE = 40_000;

async function page(
  snapshot: Snapshot,
  views: readonly View[],
  selection: Selection,
  limit: number,
): Promise<ListPage> {
  const meta: ListMeta = { resourceVersion: String(snapshot.revision) };
  const chosen = !selection.all;
  if (!chosen && (limit <= 0 || views.length <= limit)) return { meta, items: views, chosen };
  const items: View[] = [];
  const atOnce = Math.ceil(COMPARED_AT_ONCE / (selection.terms + 1));
  let next = 0;
  while (next < views.length && (limit <= 0 || items.length < limit)) {
    if (next > 0 && !selection.all) await yieldToEventLoop();
    next = pick(views, next, Math.min(next + atOnce, views.length), selection, limit, items);
  }
  if (next < views.length) {
    const last = snapshot.items[next - 1]?.key ?? "";
    meta.continue = encodeContinue({ revision: snapshot.revision, start: `${last.slice(snapshot.prefix.length)}\0` });
    if (selection.all) meta.remainingItemCount = views.length - next;
  }
  return { meta, items, chosen };
}

/** Adds what is selected of a piece of the views, until there are enough; returns where it stopped. */
function pick(
  views: readonly View[],
  from: number,
  to: number,
  selection: Selection,
  limit: number,
  items: View[],
): number {
  for (let i = from; i < to; i++) {
    const view = views[i] as View;
    if (!selection.all && !selection.matches(view.object)) continue;
    items.push(view);
    if (items.length === limit) return i + 1;
  }
  return to;
}
