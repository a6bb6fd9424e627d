import { deepCopy, deepFreeze, notFound, type Unstructured, type UserInfo } from "@capstan/apimachinery";
import type { InternalApi, InternalChange, RequestAttributes, ResourceKey } from "../../types.ts";

/** Just enough of the server for tests of one part: objects in a map, watches at once, no validation. */
export function tinyApi(
  plurals: Readonly<Record<string, string>> = {},
): InternalApi & { put(object: Unstructured): Unstructured } {
  const objects = new Map<string, { key: ResourceKey; object: Unstructured }>();
  const watchers = new Set<{ type: ResourceKey | undefined; onChange: (change: InternalChange) => void }>();
  let revision = 0;
  const id = (type: ResourceKey, namespace: string, name: string): string =>
    `${type.group}/${type.plural}/${namespace}/${name}`;
  const matches = (type: ResourceKey | undefined, key: ResourceKey): boolean =>
    type === undefined || (type.group === key.group && type.plural === key.plural);
  const change = (key: ResourceKey, object: Unstructured | undefined, previous: Unstructured | undefined): void => {
    const { name = "", namespace = "" } = (object ?? previous)?.metadata ?? {};
    for (const w of watchers) if (matches(w.type, key)) w.onChange({ type: key, namespace, name, object, previous });
  };
  const write = (key: ResourceKey, input: Unstructured): Unstructured => {
    const object = deepCopy(input);
    object.metadata.resourceVersion = String(++revision);
    object.metadata.uid ??= `uid-${revision}`;
    const place = id(key, object.metadata.namespace ?? "", object.metadata.name ?? "");
    const previous = objects.get(place)?.object;
    objects.set(place, { key, object: deepFreeze(object) });
    change(key, object, previous);
    return object;
  };
  const keyOf = (object: Unstructured): ResourceKey => {
    const [group = "", version] = object.apiVersion.split("/");
    return {
      group: version === undefined ? "" : group,
      plural: plurals[object.kind] ?? `${object.kind.toLowerCase()}s`,
    };
  };
  return {
    put: (object) => write(keyOf(object), object),
    get: (type, namespace, name) => objects.get(id(type, namespace, name))?.object,
    list: (type, namespace) =>
      [...objects.values()]
        .filter((o) => matches(type, o.key) && (namespace === undefined || o.object.metadata.namespace === namespace))
        .map((o) => o.object),
    create: async (type, object) => write(type, object),
    update: async (type, namespace, name, _manager, edit) => {
      const current = objects.get(id(type, namespace, name))?.object;
      if (current === undefined) return undefined;
      const draft = deepCopy(current);
      return edit(draft) === false ? current : write(type, draft);
    },
    delete: async (type, namespace, name) => {
      const place = id(type, namespace, name);
      const current = objects.get(place);
      if (current === undefined) throw notFound({ group: type.group, resource: type.plural }, name);
      objects.delete(place);
      change(type, undefined, current.object);
    },
    watch: (type, onChange) => {
      const watcher = { type, onChange };
      for (const { key, object } of objects.values()) {
        const { name = "", namespace = "" } = object.metadata;
        if (matches(type, key)) onChange({ type: key, namespace, name, object, previous: undefined });
      }
      watchers.add(watcher);
      return () => watchers.delete(watcher);
    },
  };
}

/** Attributes of a resource request: `ask(user, "get", "apps/deployments/scale", "ns/name")`. */
export function ask(user: UserInfo, verb: string, what: string, where = "/"): RequestAttributes {
  const [first = "", resource = "", subresource = ""] = what.split("/");
  const [namespace = "", name = ""] = where.split("/");
  const group = first === "core" ? "" : first;
  return { user, verb, isResource: true, path: "", group, version: "v1", resource, subresource, namespace, name };
}

/** Attributes of a request to a path that is no resource. */
export function askPath(user: UserInfo, verb: string, path: string): RequestAttributes {
  return {
    user,
    verb,
    isResource: false,
    path,
    group: "",
    version: "",
    resource: "",
    subresource: "",
    namespace: "",
    name: "",
  };
}
