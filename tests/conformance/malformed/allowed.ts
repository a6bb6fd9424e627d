import type { MalformedRequest } from "../../faults/malformed.ts";
import type { Verdict } from "./ask-both.ts";

/** An allowed difference for malformed requests; docs/differences.md gives the reason under the same name. */
interface AllowedDifference {
  readonly name: string;
  /** A request that shows it, sent with the others. */
  readonly example: MalformedRequest;
  fits(request: MalformedRequest, ours: Verdict, real: Verdict): boolean;
}

const KNOWN_METHODS = new Set(["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE", "PROPFIND"]);
const typeOf = ({ headers }: MalformedRequest): string => headers["content-type"] ?? "";

const GEARS = "/apis/faults.example/v1/namespaces/default/gears";
const JSON_TYPE = "application/json";
const example = (
  line: string,
  type = JSON_TYPE,
  body?: string,
  headers: Record<string, string> = {},
): MalformedRequest => {
  const [method = "", path = ""] = line.split(" ");
  return {
    method,
    path,
    headers: { "content-type": type, ...headers },
    body: body === undefined ? undefined : Buffer.from(body),
  };
};

/** All of them; anything else fails the comparison. */
export const ALLOWED: readonly AllowedDifference[] = [
  {
    name: "mistakes-are-400",
    example: example("DELETE /api/v1/namespaces/default/configmaps/x", JSON_TYPE, "{"),
    fits: (_, ours, real) => ours.status >= 400 && ours.status < 500 && real.status === 500,
  },
  {
    name: "limits-first",
    example: example("POST /api/v1/namespaces/default/pods", JSON_TYPE, `[${"{},".repeat(30_000)}{}]`),
    fits: (_, ours) => ours.status === 413 || (ours.status === 400 && ours.message.includes("is nested deeper than")),
  },
  {
    name: "unknown-methods",
    example: example("FROB /nowhere"),
    fits: ({ method }, ours) => !KNOWN_METHODS.has(method) && ours.status === 405,
  },
  {
    name: "document-methods",
    example: example("PUT /openapi/v2", JSON_TYPE, "{}"),
    fits: ({ method, path }, ours) =>
      /^\/(openapi\/|apis(\/[^/]*)?\/?(\?|$))/.test(path) &&
      method !== "GET" &&
      method !== "HEAD" &&
      ours.status === 405,
  },
  {
    name: "openapi-accept",
    example: example("GET /openapi/v3/api/v1", JSON_TYPE, undefined, { accept: ",,," }),
    fits: ({ path, headers }, ours) =>
      path.startsWith("/openapi/") && headers["accept"] === ",,," && ours.status === 406,
  },
  {
    name: "discovery-content-type",
    example: example("GET /api", "text/plain"),
    fits: ({ method, path }, ours, real) =>
      method === "GET" && /^\/apis?\b/.test(path) && ours.status === 200 && real.status === 415,
  },
  {
    name: "yaml-library",
    example: example("POST /api/v1/namespaces?dryRun=All", "application/yaml", '{"a":}}}}'),
    fits: (request, ...verdicts) =>
      typeOf(request).includes("yaml") &&
      verdicts.some(({ status, message }) => status === 400 && /\byaml\b/i.test(message)),
  },
  {
    name: "scale-apply",
    example: example(
      `PATCH ${GEARS}/g/scale?fieldManager=faults&force=true&dryRun=All`,
      "application/apply-patch+yaml",
      '{"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"g"},"spec":{"replicas":2}}',
    ),
    fits: ({ method, path }, ours, real) =>
      method === "PATCH" && path.includes("/scale") && ours.status === 200 && real.status === 500,
  },
  {
    name: "protobuf-custom",
    example: example(`POST ${GEARS}?dryRun=All`, "application/vnd.kubernetes.protobuf", "{}"),
    fits: (request, ours, real) =>
      typeOf(request).includes("protobuf") &&
      /\/gears\b/.test(request.path) &&
      ours.status === 415 &&
      real.status === 0,
  },
  {
    name: "dry-run-collection",
    example: example(`DELETE ${GEARS}?resourceVersion=0&limit=1&dryRun=All`),
    fits: ({ method, path }, ours, real) =>
      method === "DELETE" && path.includes("dryRun=All") && ours.status === 200 && real.status === 409,
  },
  {
    name: "broken-head",
    example: example("HEAD /version/%zz"),
    fits: ({ method }, ours, real) => method === "HEAD" && ours.status === 400 && real.status === 0,
  },
];
