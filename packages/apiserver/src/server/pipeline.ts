import {
  ApiError,
  badRequest,
  internalError,
  methodNotSupported,
  requestEntityTooLarge,
  serviceUnavailable,
  type UserInfo,
  unauthorized,
} from "@capstan/apimachinery";
import { impersonate } from "../auth/impersonation.ts";
import { forbiddenFor } from "../auth/rbac-authorizer.ts";
import { ANONYMOUS } from "../auth/users.ts";
import type { RegistryCore } from "../registry/core.ts";
import { isCustom } from "../registry/custom-type.ts";
import { methodNotAllowed, notServed } from "../registry/errors.ts";
import { patchTypeOf } from "../registry/patch.ts";
import { StoreError } from "../store/store.ts";
import type { Authenticator, Authorizer, RequestAttributes, ResourceRegistry, ResourceType } from "../types.ts";
import type { ApiCall } from "./api-call.ts";
import { mediaTypeOf } from "./body.ts";
import { type Reply, statusReply, textReply } from "./reply.ts";
import { parseRequestInfo, type RequestInfo, unescapedPath } from "./request-info.ts";
import { handleResource } from "./resource-handler.ts";

/** Serves paths that are not resources: discovery, OpenAPI, health, version, metrics. Undefined = not mine. */
export type PathHandler = (call: ApiCall, user: UserInfo) => Reply | undefined | Promise<Reply | undefined>;

/** Observes each request: audit and metrics. */
export interface RequestObserver {
  /** Called when it is clear what the request wants; the returned function when it is answered. */
  begin(call: ApiCall, attributes: RequestAttributes): (reply: Reply) => void;
}

/** The stages of a request. */
export interface PipelineDeps {
  readonly core: RegistryCore;
  readonly authenticator: Authenticator;
  readonly authorizer: Authorizer;
  readonly paths: readonly PathHandler[];
  readonly observers: readonly RequestObserver[];
  /** Called for internal errors. */
  onError(error: unknown, call: ApiCall): void;
}

const UNKNOWN_USER: UserInfo = { name: "", groups: [] };

/** Answers one request; never throws. Authenticate, impersonate, authorize, serve. */
export async function handleCall(deps: PipelineDeps, call: ApiCall): Promise<Reply> {
  let finish: ((reply: Reply) => void)[] | undefined;
  let reply: Reply;
  let user = UNKNOWN_USER;
  try {
    const info = parseRequestInfo(call.method, call.path, call.query);
    // Rejected requests are observed, too: without a user, or as the authenticated user instead of the impersonated one.
    const observe = (attributes: RequestAttributes): void => {
      finish ??= deps.observers.map((observer) => observer.begin(call, attributes));
    };
    try {
      user = await identify(deps, call);
      if (impersonates(call.headers)) user = impersonate(user, call.headers, deps.authorizer, call.path);
    } catch (error) {
      observe(attributesOf(info, user));
      throw error;
    }
    const attributes = attributesOf(info, user);
    observe(attributes);
    const { allowed, reason } = deps.authorizer.authorize(attributes);
    if (!allowed) throw forbiddenFor(attributes, reason);
    reply = await serve(deps, call, info, attributes);
  } catch (error) {
    reply = failureReply(deps, call, error);
  }
  if (finish !== undefined) for (const done of finish) done(reply);
  return reply;
}

async function identify(deps: PipelineDeps, call: ApiCall): Promise<UserInfo> {
  let { user } = call;
  if (call.badCertificate === true) throw unauthorized();
  if (user === undefined) {
    const { headers, clientCertificate } = call;
    user = await deps.authenticator.authenticate(
      clientCertificate === undefined ? { headers } : { headers, clientCertificate },
    );
  }
  if (user === undefined) throw unauthorized();
  if (user.name !== ANONYMOUS.name) call.authenticated?.();
  return user;
}

/** Almost no client does: this check is cheaper than reading all headers each time. */
function impersonates(headers: ApiCall["headers"]): boolean {
  for (const name in headers) if (name.startsWith("impersonate-")) return true;
  return false;
}

function attributesOf(info: RequestInfo, user: UserInfo): RequestAttributes {
  const { verb, isResource, path, group, version, resource, subresource, namespace, name } = info;
  return { user, verb, isResource, path, group, version, resource, subresource, namespace, name };
}

async function serve(
  deps: PipelineDeps,
  call: ApiCall,
  info: RequestInfo,
  attributes: RequestAttributes,
): Promise<Reply> {
  // What cuts a path into segments overlooks more slashes than one at its beginning; what looks for handlers does not.
  if (/^\/(\/|%2f)/i.test(call.path)) return pageNotFound();
  if (!info.isResource) {
    const plain = call.path.includes("%") ? { ...call, path: unescapedPath(call.path) ?? call.path } : call;
    for (const handler of deps.paths) {
      const handled = handler(plain, attributes.user);
      const reply = handled instanceof Promise ? await handled : handled;
      if (reply !== undefined) return reply;
    }
    return pageNotFound();
  }
  const type = deps.core.types.find(info.group, info.version, info.resource);
  if (type === undefined || !inScope(type, info) || (type.builtin && !hasRoute(type, info))) {
    if (isServedGroup(deps.core.types, info.group)) throw notServed();
    return pageNotFound();
  }
  if (type.builtin ? !methodFits(call.method, info) : info.verb === "") {
    throw type.builtin ? methodNotAllowed() : methodNotSupported({ group: type.group, resource: type.plural }, "");
  }
  if (!type.builtin && info.name === "" && (info.verb === "update" || info.verb === "patch")) {
    if (info.verb === "patch") patchTypeOf(type, mediaTypeOf(call.headers["content-type"]));
    throw badRequest("name must be provided");
  }
  return handleResource(deps.core, call, info, type, attributes);
}

const ACROSS_NAMESPACES = new Set(["list", "watch"]);

/** Whether the path names the type in its scope: a namespaced object needs its namespace, a cluster-scoped one must have none. */
function inScope(type: ResourceType, info: RequestInfo): boolean {
  if (!type.namespaced) {
    return !info.inNamespace;
  }
  if (info.namespace !== "" || ACROSS_NAMESPACES.has(info.verb)) return true;
  // Without a namespace the collection paths of built-ins exist, but do not take these verbs: 405.
  return !isCustom(type) && (info.verb === "create" || info.verb === "deletecollection");
}

/** Whether a path below a built-in kind exists for any method: reviews have no names, and there are no subresources but the known. */
function hasRoute(type: ResourceType, { verb, name, subresource, overlong }: RequestInfo): boolean {
  if (overlong) return false;
  // The name of a list is that of its field selector.
  if (subresource === "") return name === "" || verb === "list" || type.strategy.createOnly === undefined;
  return (
    (subresource === "status" && type.status) ||
    (subresource === "scale" && type.scale !== undefined) ||
    type.subresources.some((known) => known.name === subresource)
  );
}

/** Single objects are not posted to, collections not put or patched; HEAD and OPTIONS are for other paths. */
function methodFits(method: string, info: RequestInfo): boolean {
  if (info.verb === "" || method === "HEAD") return false;
  if (info.verb === "list" || info.verb === "watch") return method === "GET";
  if (info.subresource !== "" || info.verb === "deletecollection") return true;
  return (info.verb === "create") === (info.name === "");
}

/** Below a group that exists, unknown paths are answered by its own router. */
function isServedGroup(types: ResourceRegistry, group: string): boolean {
  return types.types().some((type) => type.group === group && type.builtin);
}

/** The response of Go's mux for an unknown path. */
function pageNotFound(): Reply {
  return textReply(404, "404 page not found\n", { "X-Content-Type-Options": "nosniff" });
}

/** The Status of a failure; anything but an ApiError is an internal error, which is logged and reported without details. */
export function failureReply(deps: Pick<PipelineDeps, "onError">, call: ApiCall, error: unknown): Reply {
  if (error instanceof ApiError) return statusReply(error.status);
  if (error instanceof RangeError && /call stack/i.test(error.message)) {
    return statusReply(requestEntityTooLarge("the object is nested too deeply: flatten it").status);
  }
  deps.onError(error, call);
  // The request was valid and may be repeated; how to fix the disk is not confidential.
  if (error instanceof StoreError) return statusReply(serviceUnavailable(`${error.message}. ${error.cure}`).status);
  return statusReply(internalError("the request failed inside the server; its log has the cause").status);
}
