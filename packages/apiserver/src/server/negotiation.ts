import { type ApiError, notAcceptable } from "@capstan/apimachinery";

/** The requested form of a response. */
export interface Representation {
  readonly as: "object" | "table" | "partial" | "partialList";
  readonly format: "json" | "yaml";
  /** Version of meta.k8s.io requested with `as=`. */
  readonly metaVersion: string;
  /**
   * Items of a PartialObjectMetadataList do not name their kind. In protobuf they never do, and a client that prefers it compares them
   * with what a watch gave it.
   */
  readonly untypedItems?: boolean;
}

/** What almost every request gets: the object itself as JSON. */
export const PLAIN_JSON: Representation = { as: "object", format: "json", metaVersion: "v1" };

interface Clause {
  type: string;
  params: Map<string, string>;
  quality: number;
}

const cache = new Map<string, Representation>();
const CACHE_LIMIT = 256;

/** Takes the first Accept clause that can be served; throws 406 when none can. `tables` = whether the kind has a Table form. */
export function negotiate(accept: string | undefined, tables = true): Representation {
  if (accept === undefined || accept === "" || accept === "application/json" || accept === "*/*") return PLAIN_JSON;
  if (!tables) return choose(accept, false);
  const known = cache.get(accept);
  if (known !== undefined) return known;
  const chosen = choose(accept, true);
  if (cache.size >= CACHE_LIMIT) cache.clear();
  cache.set(accept, chosen);
  return chosen;
}

function choose(accept: string, tables: boolean): Representation {
  let untypedItems = false;
  for (const clause of parseAccept(accept)) {
    const format = formatOf(clause.type);
    if (format === undefined) {
      untypedItems ||= clause.type === PROTOBUF;
      continue;
    }
    const as = clause.params.get("as");
    if (as === undefined || as === "") return { as: "object", format, metaVersion: "v1" };
    const metaVersion = clause.params.get("v") ?? "v1";
    if (clause.params.get("g") !== "meta.k8s.io" || (metaVersion !== "v1" && metaVersion !== "v1beta1")) continue;
    if (as === "Table" && tables) return { as: "table", format, metaVersion };
    if (as === "PartialObjectMetadata") return { as: "partial", format, metaVersion };
    if (as === "PartialObjectMetadataList") return { as: "partialList", format, metaVersion, untypedItems };
  }
  throw unservedMediaType();
}

const PROTOBUF = "application/vnd.kubernetes.protobuf";
const OBJECTS = ["application/json", "application/yaml", PROTOBUF];
const EVENTS = ["application/json;stream=watch", "application/vnd.kubernetes.protobuf;stream=watch"];

/** 406 with the message of upstream's negotiation. */
export function unservedMediaType(watch = false): ApiError {
  return notAcceptable(`only the following media types are accepted: ${(watch ? EVENTS : OBJECTS).join(", ")}`);
}

/** Whether any clause names a media type that is served, in whatever form. */
export function servesMediaType(accept: string): boolean {
  return parseAccept(accept).some((clause) => formatOf(clause.type) !== undefined);
}

function formatOf(type: string): "json" | "yaml" | undefined {
  switch (type) {
    case "application/json":
    case "*/*":
      return "json";
    case "application/yaml":
      return "yaml";
    default:
      return undefined;
  }
}

function parseAccept(accept: string): Clause[] {
  const clauses = accept.split(",").map((text): Clause => {
    const [type = "", ...rest] = text.split(";").map((part) => part.trim());
    const params = new Map<string, string>();
    for (const param of rest) {
      const at = param.indexOf("=");
      if (at > 0) params.set(param.slice(0, at), param.slice(at + 1));
    }
    const quality = Number(params.get("q") ?? "1");
    return { type: type.toLowerCase(), params, quality: Number.isFinite(quality) ? quality : 1 };
  });
  // Stable: clauses of the same quality keep the client's order.
  return clauses.filter((c) => c.quality > 0).sort((a, b) => b.quality - a.quality);
}
