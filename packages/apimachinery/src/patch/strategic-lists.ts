import { badRequest } from "../errors.ts";
import { goJson, goValue } from "../go-text.ts";
import { isObject, type JsonObject, stableStringify } from "../json.ts";

/** How items of a list are recognised: by their merge key, or by value. */
function identify(item: unknown, mergeKey: string | undefined): string {
  if (mergeKey === undefined) return stableStringify(item);
  if (!isObject(item) || !Object.hasOwn(item, mergeKey)) {
    throw badRequest(`map: ${goValue(item)} does not contain declared merge key: ${mergeKey}`);
  }
  return stableStringify(item[mergeKey]);
}

/** Joins two lists of scalars without duplicates, ordered as the patch wants. */
export function mergePrimitiveLists(original: readonly unknown[], patch: readonly unknown[]): unknown[] {
  const seen = new Map<string, unknown>();
  for (const item of [...original, ...patch]) {
    const id = identify(item, undefined);
    if (!seen.has(id)) seen.set(id, item);
  }
  return orderItems([...seen.values()], patch, original, undefined);
}

/** Joins two lists of objects by their merge key; items may carry `$patch: delete` or, once, `$patch: replace`. */
export function mergeKeyedLists(
  original: readonly unknown[],
  patch: readonly unknown[],
  mergeKey: string,
  merge: (left: JsonObject | undefined, right: JsonObject) => JsonObject,
): unknown[] {
  const changes = patch.map((item) => {
    if (!isObject(item))
      throw badRequest(`expected a map in a list that merges by ${mergeKey}, but received ${goJson(item)}`);
    return item;
  });
  const plain = changes.filter((c) => !Object.hasOwn(c, "$patch"));
  const directives = changes.filter((c) => Object.hasOwn(c, "$patch"));
  const deleted = new Set<string>();
  let replace = false;
  for (const item of directives) {
    if (item["$patch"] === "delete") deleted.add(identify(item, mergeKey));
    else if (item["$patch"] === "replace") replace = true;
    else if (item["$patch"] === "merge") throw badRequest("merging lists cannot yet be specified in the patch");
    else throw badRequest(`unknown patch type: ${String(item["$patch"])} in map: ${goValue(item)}`);
  }
  if (replace) return plain.map((item) => merge(undefined, item));
  const kept = original.filter((item) => !deleted.has(identify(item, mergeKey)));
  const merged = new Map(kept.map((item) => [identify(item, mergeKey), item]));
  for (const item of plain) {
    const id = identify(item, mergeKey);
    const old = merged.get(id);
    merged.set(id, merge(isObject(old) ? old : undefined, item));
  }
  return orderItems([...merged.values()], plain, kept, mergeKey);
}

/** Upstream's order: patched items as in the patch, others as on the server, a patched one first unless the server says otherwise. */
export function orderItems(
  items: readonly unknown[],
  wanted: readonly unknown[],
  server: readonly unknown[],
  mergeKey: string | undefined,
): unknown[] {
  const indexOf = (list: readonly unknown[]): Map<string, number> => {
    const index = new Map<string, number>();
    for (const [i, item] of list.entries()) index.set(identify(item, mergeKey), i);
    return index;
  };
  const inPatch = indexOf(wanted);
  const onServer = indexOf(server);
  const entries = items.map((item) => ({ item, id: identify(item, mergeKey) }));
  const patched = entries
    .filter((e) => inPatch.has(e.id))
    .sort((a, b) => (inPatch.get(a.id) ?? 0) - (inPatch.get(b.id) ?? 0));
  const others = entries.filter((e) => !inPatch.has(e.id));
  const out: unknown[] = [];
  let p = 0;
  for (const other of others) {
    const place = onServer.get(other.id) ?? 0;
    while (p < patched.length) {
      const serverPlace = onServer.get(patched[p]?.id ?? "");
      if (serverPlace !== undefined && place < serverPlace) break;
      out.push(patched[p]?.item);
      p++;
    }
    out.push(other.item);
  }
  while (p < patched.length) out.push(patched[p++]?.item);
  return out;
}

/** The patch's items must come in the order that the patch itself demands, and be named by it. */
export function checkOrder(
  patch: readonly unknown[],
  wanted: readonly unknown[],
  mergeKey: string | undefined,
  directive: string,
): void {
  if (patch.length === 0 || wanted.length === 0) return;
  const items = patch.filter((item) => !(isObject(item) && Object.hasOwn(item, "$patch")));
  let at = 0;
  for (const entry of wanted) {
    if (at === items.length) return;
    if (identify(items[at], mergeKey) === identify(entry, mergeKey)) at++;
  }
  if (at < items.length)
    throw badRequest(
      `The order in patch list:\n${goValue(patch)}\n doesn't match ${directive} list:\n${goValue(wanted)}\n`,
    );
}
