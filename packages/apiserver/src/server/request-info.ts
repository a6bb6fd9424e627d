import { isPathSegment, parseFieldSelector } from "@capstan/apimachinery";

/** What the path, the method and the query of a request say about its target (RequestInfo of kube-apiserver). */
export interface RequestInfo {
  readonly isResource: boolean;
  /** get, list, watch, create, update, patch, delete, deletecollection; for other paths the lower-case HTTP method. */
  readonly verb: string;
  readonly path: string;
  readonly group: string;
  readonly version: string;
  readonly namespace: string;
  /** The path goes through `namespaces/{ns}/`, so that only namespaced resources fit. */
  readonly inNamespace: boolean;
  readonly resource: string;
  readonly name: string;
  readonly subresource: string;
  /** True when more segments follow than the grammar knows: nothing is served there. */
  readonly overlong: boolean;
}

const METHOD_VERBS: Readonly<Record<string, string>> = {
  POST: "create",
  GET: "get",
  HEAD: "get",
  PUT: "update",
  PATCH: "patch",
  DELETE: "delete",
};

/** After a namespace's name these are its own subresources; any other segment is a resource inside it. */
const NAMESPACE_SUBRESOURCES = new Set(["status", "finalize"]);

/** Parses `[namespaces/{ns}/]{resource}[/{name}[/{subresource}]]` below `/api/{version}` or `/apis/{group}/{version}`. */
export function parseRequestInfo(method: string, path: string, query: URLSearchParams): RequestInfo {
  let parts = segments(path);
  if (parts === undefined || parts.length < 3) return nonResource(method, path);
  let group = "";
  if (parts[0] === "apis") {
    if (parts.length < 4) return nonResource(method, path);
    group = parts[1] ?? "";
    parts = parts.slice(2);
  } else if (parts[0] === "api") {
    parts = parts.slice(1);
  } else {
    return nonResource(method, path);
  }
  const version = parts[0] ?? "";
  parts = parts.slice(1);
  let verb = METHOD_VERBS[method] ?? "";
  if (parts[0] === "watch" && parts.length > 1) {
    // The old /watch/ prefix still means watch, whatever the method.
    verb = "watch";
    parts = parts.slice(1);
  }
  let namespace = "";
  let inNamespace = false;
  if (parts[0] === "namespaces") {
    if (parts.length > 1) {
      namespace = parts[1] ?? "";
      if (parts.length > 2 && !NAMESPACE_SUBRESOURCES.has(parts[2] ?? "")) {
        parts = parts.slice(2);
        inNamespace = true;
      }
    }
  }
  const resource = parts[0] ?? "";
  let name = parts[1] ?? "";
  const subresource = parts[2] ?? "";
  if (name === "" && verb === "delete") verb = "deletecollection";
  if (name === "" && verb === "get") {
    verb = wantsWatch(query) ? "watch" : "list";
    name = selectedName(query);
  }
  const overlong = parts.length > 3;
  return {
    isResource: true,
    verb,
    path,
    group,
    version,
    namespace,
    inNamespace,
    resource,
    name,
    subresource,
    overlong,
  };
}

function nonResource(method: string, path: string): RequestInfo {
  return {
    isResource: false,
    verb: method.toLowerCase(),
    path,
    group: "",
    version: "",
    namespace: "",
    inNamespace: false,
    resource: "",
    name: "",
    subresource: "",
    overlong: false,
  };
}

/** Path segments. As upstream, an escaped slash separates them too; undefined when the escapes are no UTF-8. */
function segments(escaped: string): string[] | undefined {
  const path = unescapedPath(escaped);
  if (path === undefined) return undefined;
  let start = 0;
  let end = path.length;
  while (start < end && path.charCodeAt(start) === 47) start++;
  while (end > start && path.charCodeAt(end - 1) === 47) end--;
  return path.slice(start, end).split("/");
}

/** A path as people read it; undefined when its escapes are no UTF-8. */
export function unescapedPath(path: string): string | undefined {
  if (!path.includes("%")) return path;
  try {
    return decodeURIComponent(path);
  } catch {
    return undefined;
  }
}

/** `watch` counts unless it is absent, `0` or `false` in any case, as upstream reads boolean parameters. */
export function wantsWatch(query: URLSearchParams): boolean {
  const value = query.get("watch");
  return value !== null && value !== "0" && value.toLowerCase() !== "false";
}

/**
 * A field selector that pins metadata.name makes a list a request for that one name (authorization by resourceNames). It is read by the
 * parser that selects the objects: what authorization takes for a name must be one there too.
 */
function selectedName(query: URLSearchParams): string {
  const selector = query.get("fieldSelector");
  if (selector === null || !selector.includes("metadata.name")) return "";
  try {
    const name = parseFieldSelector(selector).exact("metadata.name") ?? "";
    return isPathSegment(name).length === 0 ? name : "";
  } catch {
    // The handler answers 400; until then nothing is known about names.
    return "";
  }
}
