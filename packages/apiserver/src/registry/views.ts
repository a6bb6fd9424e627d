import { deepCopy, deepEqual, deepFreeze, type Unstructured } from "@capstan/apimachinery";
import { inPieces } from "../long-work.ts";
import type { StoredObject } from "../store/object-store.types.ts";
import type { ResourceType } from "../types.ts";
import { compiledSchema } from "./compiled.ts";
import { apiVersionOf } from "./core.ts";
import { type CustomResourceType, isCustom } from "./custom-type.ts";

/** An object as one API version shows it: frozen, with its JSON. A stored object is its own view in its storage version. */
export interface View {
  readonly object: Unstructured;
  readonly bytes: Buffer;
}

const caches = new WeakMap<ResourceType, WeakMap<StoredObject, View>>();

function cacheOf(type: ResourceType): WeakMap<StoredObject, View> {
  let cache = caches.get(type);
  if (cache === undefined) {
    cache = new WeakMap();
    caches.set(type, cache);
  }
  return cache;
}

/** How `type` shows a stored object. Only conversion webhooks make it a promise. */
export function viewOf(type: ResourceType, stored: StoredObject): View | Promise<View> {
  if (type.storedAs === undefined && (!isCustom(type) || isCurrent(type, stored))) return stored;
  const cache = cacheOf(type);
  const known = cache.get(stored);
  if (known !== undefined) return known;
  const made = makeView(type, stored);
  if (made instanceof Promise) {
    return made.then((view) => {
      cache.set(stored, view);
      return view;
    });
  }
  cache.set(stored, made);
  return made;
}

/** Views of many objects; what is not known yet goes to a conversion webhook in few calls. Long lists are converted piece by piece. */
export function viewsOf(
  type: ResourceType,
  items: readonly StoredObject[],
): readonly View[] | Promise<readonly View[]> {
  if (type.storedAs === undefined && !isCustom(type)) return items;
  if (isCustom(type) && type.custom.converter.async) return convertMissing(type, items);
  const view = (stored: StoredObject): View => viewOf(type, stored) as View;
  if (items.length <= VIEWS_AT_ONCE || items.every((stored) => isReady(type, stored))) return items.map(view);
  return inPieces(items, VIEWS_AT_ONCE, (piece) => piece.map(view)).then((pieces) => pieces.flat());
}

/** More conversions than this at once would hold up other requests. */
const VIEWS_AT_ONCE = 500;

/** One body with a whole list would take memory without bound, and a webhook longer than it is given. */
const REVIEWED_AT_ONCE = 100;

function isReady(type: ResourceType, stored: StoredObject): boolean {
  return (isCustom(type) && isCurrent(type, stored)) || cacheOf(type).has(stored);
}

/** Whether the stored form is exactly what a client of `type` must see, and passed its schema as it is today. */
export function isCurrent(type: CustomResourceType, stored: StoredObject): boolean {
  return stored.revision > type.custom.epoch && stored.object.apiVersion === apiVersionOf(type);
}

function makeView(type: ResourceType, stored: StoredObject): View | Promise<View> {
  if (type.storedAs !== undefined) return viewFrom(type.storedAs.fromStorage(deepCopy(stored.object)));
  if (!isCustom(type)) return stored;
  const { converter } = type.custom;
  if (stored.object.apiVersion === apiVersionOf(type)) return refresh(type, stored.object, stored);
  const from = settled(type, stored);
  if (!converter.async) return viewFrom(converter.convert(from, apiVersionOf(type)));
  return converter.convert([from], apiVersionOf(type)).then(([converted]) => viewFrom(deepCopy(converted ?? from)));
}

async function convertMissing(type: CustomResourceType, items: readonly StoredObject[]): Promise<readonly View[]> {
  const { converter } = type.custom;
  const cache = cacheOf(type);
  const target = apiVersionOf(type);
  const missing = items.filter((s) => s.object.apiVersion !== target && !cache.has(s));
  for (let at = 0; converter.async && at < missing.length; at += REVIEWED_AT_ONCE) {
    const some = missing.slice(at, at + REVIEWED_AT_ONCE);
    const converted = await converter.convert(
      some.map((s) => settled(type, s)),
      target,
    );
    some.forEach((s, i) => {
      const object = converted[i];
      if (object !== undefined) cache.set(s, viewFrom(deepCopy(object)));
    });
  }
  const out: View[] = [];
  for (const item of items) out.push(await viewOf(type, item));
  return out;
}

/** Upstream prunes and defaults in the stored version only: what a conversion leaves out stays out. */
function settled(type: CustomResourceType, stored: StoredObject): Unstructured {
  return stored.revision > type.custom.epoch ? stored.object : finishStorage(type, stored.object);
}

/** Prunes and defaults by today's schema what was stored under an older one (as decoding from storage does upstream). */
function refresh(type: CustomResourceType, object: Unstructured, stored: StoredObject): View {
  const copy = deepCopy(object);
  const schema = compiledSchema(type.schema);
  if (!type.custom.preserveUnknownFields) schema.prune(copy, { root: true });
  schema.applyDefaults(copy);
  return deepEqual(copy, stored.object) ? stored : viewFrom(copy);
}

function viewFrom(object: Unstructured): View {
  deepFreeze(object);
  let bytes: Buffer | undefined;
  return {
    object,
    get bytes() {
      bytes ??= Buffer.from(JSON.stringify(object));
      return bytes;
    },
  };
}

/** The object in the form that is stored. Only conversion webhooks make it a promise. */
export function toStorage(type: ResourceType, object: Unstructured): Unstructured | Promise<Unstructured> {
  if (type.storedAs !== undefined) return type.storedAs.toStorage(object);
  if (type.version === type.storageVersion || !isCustom(type)) return object;
  const target = type.group === "" ? type.storageVersion : `${type.group}/${type.storageVersion}`;
  const { converter } = type.custom;
  if (converter.async) {
    return converter.convert([object], target).then(([converted]) => finishStorage(type, converted ?? object));
  }
  return finishStorage(type, converter.convert(object, target));
}

/** Reading trusts objects newer than the CRD, so what a conversion leaves out is defaulted before it is stored. */
function finishStorage(type: CustomResourceType, object: Unstructured): Unstructured {
  const copy = deepCopy(object);
  const schema = compiledSchema(type.custom.storageSchema);
  if (!type.custom.preserveUnknownFields) schema.prune(copy, { root: true });
  schema.applyDefaults(copy);
  return copy;
}
