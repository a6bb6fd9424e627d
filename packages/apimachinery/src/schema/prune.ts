import type { SchemaNode } from "./node.ts";

/** Fields every resource has, whatever its schema says. */
export function isMetaField(name: string): boolean {
  return name === "apiVersion" || name === "kind" || name === "metadata";
}

const OBJECT_META_FIELDS: ReadonlySet<string> = new Set([
  "name",
  "generateName",
  "namespace",
  "selfLink",
  "uid",
  "resourceVersion",
  "generation",
  "creationTimestamp",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
  "labels",
  "annotations",
  "ownerReferences",
  "finalizers",
  "managedFields",
]);

/**
 * Deletes fields that the schema does not know, in place, and returns their paths (`spec.foo`, `spec.list[0].bar`),
 * sorted; undefined when there were none. `root` keeps apiVersion, kind and metadata as an embedded resource does.
 */
export function pruneRoot(node: SchemaNode, object: Record<string, unknown>, root: boolean): string[] {
  const found = node.preserve ? keepObject(node, object, root, root) : pruneObject(node, object, root, root);
  return found === undefined ? [] : found.sort();
}

type Found = string[] | undefined;

function prune(node: SchemaNode | undefined, value: unknown): Found {
  if (typeof value !== "object" || value === null) return undefined;
  if (node?.preserve === true) return keep(node, value);
  if (Array.isArray(value)) return each(value, (item) => prune(node?.items, item));
  return pruneObject(node, value as Record<string, unknown>, node?.embedded === true, false);
}

function pruneObject(
  node: SchemaNode | undefined,
  value: Record<string, unknown>,
  embedded: boolean,
  top: boolean,
): Found {
  let found: Found;
  for (const key in value) {
    if (embedded && isMetaField(key)) {
      if (!top && key === "metadata") found = join(found, prefix(key, pruneEmbeddedMeta(value[key])));
      continue;
    }
    const child = node?.properties.get(key);
    if (child !== undefined || node?.additionalAllowed === true) {
      const item = value[key];
      if (typeof item === "object" && item !== null)
        found = join(found, prefix(key, prune(child ?? node?.additional, item)));
    } else {
      delete value[key];
      if (!(top && isMetaField(key))) found = join(found, [key]);
    }
  }
  return found;
}

/** Below x-kubernetes-preserve-unknown-fields nothing is dropped, but declared properties are pruned again. */
function keep(node: SchemaNode | undefined, value: unknown): Found {
  if (node === undefined || typeof value !== "object" || value === null) return undefined;
  if (Array.isArray(value)) return each(value, (item) => keep(node.items, item));
  return keepObject(node, value as Record<string, unknown>, node.embedded, false);
}

function keepObject(node: SchemaNode, value: Record<string, unknown>, embedded: boolean, top: boolean): Found {
  if (!node.hasProperties && !node.additionalAllowed && (top || !embedded)) return undefined;
  let found: Found;
  for (const key in value) {
    if (embedded && isMetaField(key)) {
      if (key === "metadata" && !top) found = join(found, prefix(key, pruneEmbeddedMeta(value[key])));
      continue;
    }
    const child = node.properties.get(key);
    if (child !== undefined || node.additionalAllowed) {
      found = join(found, prefix(key, prune(child ?? node.additional, value[key])));
    }
  }
  return found;
}

/** The metadata of an embedded resource is typed whatever the schema says. */
function pruneEmbeddedMeta(meta: unknown): Found {
  if (typeof meta !== "object" || meta === null || Array.isArray(meta)) return undefined;
  const fields = meta as Record<string, unknown>;
  let found: Found;
  for (const key in fields) {
    if (OBJECT_META_FIELDS.has(key)) continue;
    delete fields[key];
    found = join(found, [key]);
  }
  return found;
}

function each(items: readonly unknown[], visit: (item: unknown) => Found): Found {
  let found: Found;
  for (let i = 0; i < items.length; i++) {
    const below = visit(items[i]);
    if (below !== undefined) found = join(found, prefix(`[${i}]`, below));
  }
  return found;
}

function prefix(key: string, below: Found): Found {
  return below?.map((path) => (path.startsWith("[") ? `${key}${path}` : `${key}.${path}`));
}

function join(found: Found, more: Found): Found {
  if (more === undefined) return found;
  if (found === undefined) return more;
  for (const path of more) found.push(path);
  return found;
}
