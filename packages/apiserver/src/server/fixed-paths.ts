import type { UserInfo } from "@capstan/apimachinery";
import type { DocumentAnswer, SlowDocumentHandler } from "../document.ts";
import { methodNotAllowed, notServed, routerRefusal } from "../registry/errors.ts";
import type { ApiCall } from "./api-call.ts";
import { mediaTypeOf } from "./body.ts";
import type { PathHandler } from "./pipeline.ts";
import { objectReply, type Reply, type ReplyBody, textReply } from "./reply.ts";

/** The Kubernetes version the server speaks; clusterctl and others ask for a minimum. */
export const KUBERNETES_VERSION = {
  major: "1",
  minor: "37",
  emulationMajor: "1",
  emulationMinor: "37",
  minCompatibilityMajor: "1",
  minCompatibilityMinor: "36",
  gitVersion: "v1.37.1",
  gitCommit: "0000000000000000000000000000000000000000",
  gitTreeState: "clean",
  buildDate: "1970-01-01T00:00:00Z",
  goVersion: "go1.26",
  compiler: "gc",
  platform: "linux/amd64",
} as const;

/** A part of the server whose health is reported by name; undefined or "" = fine, text = what is wrong. */
export interface HealthCheck {
  readonly name: string;
  check(): string | undefined;
}

/** `/version`: behind a router of its own, which is strict even about the type of a body that is never read. */
export const versionPath: PathHandler = (call) => {
  if (!/^\/version(\/|$)/.test(call.path)) return undefined;
  if (!/^\/version\/*$/.test(call.path)) throw notServed();
  if (call.method !== "GET") throw methodNotAllowed();
  const type = call.headers["content-type"] ?? "";
  if (type !== "" && mediaTypeOf(type) !== "application/json") throw routerRefusal(415);
  if (!/application\/json|\*\/\*/.test(call.headers["accept"] || "*/*")) throw routerRefusal("406 JSON");
  return objectReply(200, KUBERNETES_VERSION);
};

const HEALTH = /^\/(healthz|livez|readyz)(?:\/(.+))?$/;

/** `/healthz`, `/livez`, `/readyz`, each check under its own name, `?verbose` and `?exclude=`. */
export function healthPaths(checks: readonly HealthCheck[]): PathHandler {
  return (call) => {
    const match = HEALTH.exec(call.path);
    if (match === null) return undefined;
    const [, endpoint = "", single] = match;
    if (single !== undefined) {
      const check = checks.find((c) => c.name === single);
      return check === undefined ? undefined : oneCheck(check);
    }
    return allChecks(endpoint, checks, call);
  };
}

function oneCheck(check: HealthCheck): Reply {
  const problem = check.check();
  return problem ? textReply(500, `internal server error: ${problem}\n`) : textReply(200, "ok");
}

function allChecks(endpoint: string, checks: readonly HealthCheck[], call: ApiCall): Reply {
  const excluded = new Set(call.query.getAll("exclude"));
  let failed = false;
  const lines = checks.map((check) => {
    if (excluded.has(check.name)) return `[+]${check.name} excluded: ok\n`;
    const problem = check.check();
    if (!problem) return `[+]${check.name} ok\n`;
    failed = true;
    return `[-]${check.name} failed: ${problem}\n`;
  });
  if (failed) return textReply(500, `${lines.join("")}${endpoint} check failed\n`);
  return call.query.has("verbose")
    ? textReply(200, `${lines.join("")}${endpoint} check passed\n`)
    : textReply(200, "ok");
}

/** Turns a document handler into a path handler; `headAt` are the paths that answer HEAD, upstream's router refuses it elsewhere. */
export function documentPath(handler: SlowDocumentHandler, headAt: RegExp): PathHandler {
  return async (call: ApiCall, _user: UserInfo) => {
    const fits = call.method === "GET" || (call.method === "HEAD" && headAt.test(call.path));
    let made: DocumentAnswer | undefined;
    try {
      made = await handler({ path: call.path, query: call.query, headers: call.headers });
    } catch (error) {
      // Other methods are rejected as not acceptable.
      throw fits ? error : methodNotAllowed();
    }
    if (made === undefined) return undefined;
    if (!fits && made.status !== 404) throw methodNotAllowed();
    return { status: made.status, headers: made.headers, body: documentBody(made) };
  };
}

function documentBody(made: DocumentAnswer): ReplyBody {
  const { body } = made;
  if (typeof body === "string" || Buffer.isBuffer(body)) {
    const type = Object.entries(made.headers).find(([name]) => name.toLowerCase() === "content-type")?.[1];
    return { type: "raw", contentType: type ?? "application/json", bytes: body };
  }
  return { type: "object", object: body };
}

/** A path that answers with one JSON object, e.g. `/openid/v1/jwks`. */
export function objectPath(path: string, make: () => object, contentType = "application/json"): PathHandler {
  return (call) => {
    if (call.path !== path && !call.path.startsWith(`${path}/`)) return undefined;
    if (!/^\/*$/.test(call.path.slice(path.length))) throw notServed();
    if (call.method !== "GET") throw methodNotAllowed();
    const headers = { "cache-control": "public, max-age=3600" };
    return { status: 200, headers, body: { type: "raw", contentType, bytes: JSON.stringify(make()) } };
  };
}

/** `/`: the index of all paths. */
export function rootPath(paths: () => readonly string[]): PathHandler {
  return (call) => (call.path === "/" ? objectReply(200, { paths: [...paths()].sort() }) : undefined);
}

/** A path that answers with text, e.g. `/metrics`. */
export function textPath(path: string, contentType: string, make: () => string | Promise<string>): PathHandler {
  return async (call) => {
    if (call.path !== path) return undefined;
    return { status: 200, body: { type: "raw", contentType, bytes: await make() } };
  };
}
