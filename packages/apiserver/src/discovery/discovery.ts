import { createHash } from "node:crypto";
import { notFound, toGoYaml } from "@capstan/apimachinery";
import { type DocumentAnswer, type DocumentHandler, type DocumentRequest } from "../document.ts";
import { routerRefusal } from "../registry/errors.ts";
import { negotiate, servesMediaType, unservedMediaType } from "../server/negotiation.ts";
import type { ResourceRegistry } from "../types.ts";
import {
  aggregatedDocument,
  apiGroupDocument,
  apiGroupListDocument,
  apiResourceListDocument,
  apiVersionsDocument,
  type ServedGroup,
  servedGroups,
} from "./documents.ts";

/** Clients distinguish the aggregated form from the old one by exactly this content type. */
const AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

const PLAIN = "application/json";

interface Cached {
  readonly generation: number;
  readonly groups: readonly ServedGroup[];
  readonly answers: Map<string, { body: string; etag: string }>;
}

/** Serves /api, /apis and below from what the registry holds; documents are built on request and kept until it changes. */
export function createDiscovery(registry: ResourceRegistry): DocumentHandler {
  let cached: Cached | undefined;
  const current = (): Cached => {
    const generation = registry.generation();
    if (cached?.generation !== generation) cached = { generation, groups: servedGroups(registry), answers: new Map() };
    return cached;
  };
  return (request) => {
    const parts = request.path.split("/").filter((p) => p !== "");
    const [root, ...rest] = parts;
    if (root === "api" && rest.length <= 1) return inWantedFormat(answerCore(current(), request, rest[0]), request);
    // There is no router in front of it that overlooks a slash too many.
    if (request.path === "/apis//") return undefined;
    if (root === "apis" && rest.length <= 2) return inWantedFormat(answerGroups(current(), request, rest), request);
    return undefined;
  };
}

/** Plain documents are served as YAML too; the aggregated form is for programs. */
function inWantedFormat(answer: DocumentAnswer, request: DocumentRequest): DocumentAnswer {
  const { accept } = request.headers;
  if (accept === undefined || answer.status !== 200 || answer.headers["content-type"] !== PLAIN) return answer;
  // The list of groups does not go through upstream's router.
  if (!servesMediaType(accept)) throw /^\/apis\/?$/.test(request.path) ? unservedMediaType() : routerRefusal(406);
  // The document of a group is negotiated as objects are.
  if (/^\/apis\/[^/]+\/?$/.test(request.path)) negotiate(accept);
  if (!accept.includes("yaml") || formatOf(accept) !== "yaml") return answer;
  const body = toGoYaml(JSON.parse(String(answer.body)));
  return { ...answer, headers: { ...answer.headers, "content-type": "application/yaml" }, body };
}

function formatOf(accept: string): "json" | "yaml" {
  try {
    return negotiate(accept).format;
  } catch {
    return "json";
  }
}

function answerCore(cached: Cached, request: DocumentRequest, version: string | undefined): DocumentAnswer {
  const core = cached.groups.filter((g) => g.name === "");
  if (version === undefined)
    return wantsAggregated(request)
      ? aggregated(cached, request, "api", core)
      : plain(cached, "api", () => apiVersionsDocument());
  return versionAnswer(cached, core[0], version);
}

function answerGroups(cached: Cached, request: DocumentRequest, rest: readonly string[]): DocumentAnswer {
  const [name, version] = rest;
  if (name === undefined) {
    const groups = cached.groups.filter((g) => g.name !== "");
    return wantsAggregated(request)
      ? aggregated(cached, request, "apis", groups)
      : plain(cached, "apis", () => apiGroupListDocument(groups));
  }
  const group = cached.groups.find((g) => g.name === name && g.name !== "");
  if (version !== undefined) return versionAnswer(cached, group, version);
  if (group === undefined) return pageNotFound();
  return plain(cached, `apis/${name}`, () => apiGroupDocument(group, true));
}

function versionAnswer(cached: Cached, group: ServedGroup | undefined, version: string): DocumentAnswer {
  const found = group?.versions.find((v) => v.version === version);
  if (group === undefined) return pageNotFound();
  if (found === undefined && !group.versions.some((v) => v.types.some((type) => type.builtin))) return pageNotFound();
  if (found === undefined) {
    const status = notFound({ group: "", resource: "" }, "").status;
    const body = { ...status, message: "the server could not find the requested resource", details: {} };
    return { status: 404, headers: { "content-type": "application/json" }, body };
  }
  return plain(cached, `${group.name}/${version}`, () => apiResourceListDocument(group.name, found));
}

/** Whether the aggregated form is the first acceptable one. */
function wantsAggregated(request: DocumentRequest): boolean {
  for (const clause of (request.headers.accept ?? "").split(",")) {
    const [type, ...parameters] = clause.split(";").map((p) => p.trim());
    if (type !== "application/json" && type !== "*/*" && type !== "application/*") continue;
    const values = new Map(parameters.map((p) => p.split("=", 2) as [string, string]));
    if (values.get("as") === undefined) return false;
    if (
      values.get("as") === "APIGroupDiscoveryList" &&
      values.get("g") === "apidiscovery.k8s.io" &&
      values.get("v") === "v2"
    )
      return true;
  }
  return false;
}

function build(cached: Cached, key: string, make: () => object): { body: string; etag: string } {
  let answer = cached.answers.get(key);
  if (answer === undefined) {
    const body = `${JSON.stringify(make())}\n`;
    const etag = `"${createHash("sha512").update(body).digest("hex").toUpperCase()}"`;
    answer = { body, etag };
    cached.answers.set(key, answer);
  }
  return answer;
}

function aggregated(
  cached: Cached,
  request: DocumentRequest,
  key: string,
  groups: readonly ServedGroup[],
): DocumentAnswer {
  const { body, etag } = build(cached, `aggregated ${key}`, () => aggregatedDocument(groups));
  const headers = { etag, vary: "Accept", "cache-control": "public" };
  // As upstream: this one tag and nothing else.
  if (request.headers["if-none-match"] === etag) return { status: 304, headers, body: "" };
  return { status: 200, headers: { ...headers, "content-type": AGGREGATED }, body };
}

function plain(cached: Cached, key: string, make: () => object): DocumentAnswer {
  const { body } = build(cached, key, make);
  return { status: 200, headers: { "content-type": PLAIN }, body };
}

/** The response of Go's router for an unknown path. */
function pageNotFound(): DocumentAnswer {
  return {
    status: 404,
    headers: { "content-type": "text/plain; charset=utf-8", "x-content-type-options": "nosniff" },
    body: "404 page not found\n",
  };
}
