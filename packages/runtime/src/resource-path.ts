import type { KindRef } from "./kind.ts";

/** Returns the URL path of a kind's collection, or of an object or subresource in it. */
export function resourcePath(kind: KindRef, namespace?: string, name?: string, subresource?: string): string {
  let path = kind.group === "" ? `/api/${kind.version}` : `/apis/${kind.group}/${kind.version}`;
  if (kind.namespaced && namespace !== undefined && namespace !== "") {
    path += `/namespaces/${encodeURIComponent(namespace)}`;
  }
  path += `/${kind.plural}`;
  if (name !== undefined) path += `/${encodeURIComponent(name)}`;
  if (subresource !== undefined && subresource !== "") path += `/${subresource}`;
  return path;
}
