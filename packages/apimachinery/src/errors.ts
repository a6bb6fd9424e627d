import { type FieldError, fieldErrorBody, fieldErrorText } from "./field-error.ts";
import { goQuote } from "./go-text.ts";
import { ApiError, type StatusCause, type StatusDetails } from "./status.ts";

/** A resource without its version; `group` is empty for the core group. */
export interface GroupResource {
  group: string;
  resource: string;
}

/** A kind without its version. */
export interface GroupKind {
  group: string;
  kind: string;
}

function failure(code: number, reason: string, message: string, details?: StatusDetails): ApiError {
  return new ApiError({
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message,
    reason,
    ...(details === undefined ? {} : { details }),
    code,
  });
}

/** `machines.cluster.x-k8s.io`, or the bare name in the core group. */
function qualified(name: string, group: string): string {
  return group === "" ? name : `${name}.${group}`;
}

function detailsOf(name: string, group: string, kind: string, rest: StatusDetails = {}): StatusDetails {
  return {
    ...(name === "" ? {} : { name }),
    ...(group === "" ? {} : { group }),
    ...(kind === "" ? {} : { kind }),
    ...rest,
  };
}

/** 404: the named object does not exist. */
export function notFound(gr: GroupResource, name: string): ApiError {
  const message = `${qualified(gr.resource, gr.group)} ${goQuote(name)} not found`;
  return failure(404, "NotFound", message, detailsOf(name, gr.group, gr.resource));
}

/** 409: the name is taken. */
export function alreadyExists(gr: GroupResource, name: string): ApiError {
  const message = `${qualified(gr.resource, gr.group)} ${goQuote(name)} already exists`;
  return failure(409, "AlreadyExists", message, detailsOf(name, gr.group, gr.resource));
}

/** 409 with a hint to retry: every generated name was taken. */
export function generateNameConflict(gr: GroupResource, name: string, retryAfterSeconds: number): ApiError {
  const message = `${qualified(gr.resource, gr.group)} ${goQuote(name)} already exists, the server was not able to generate a unique name for the object`;
  return failure(409, "AlreadyExists", message, detailsOf(name, gr.group, gr.resource, { retryAfterSeconds }));
}

const MODIFIED = "the object has been modified; please apply your changes to the latest version and try again";

/** 409: another client was faster, or a precondition does not hold. */
export function conflict(gr: GroupResource, name: string, detail: string = MODIFIED): ApiError {
  const message = `Operation cannot be fulfilled on ${qualified(gr.resource, gr.group)} ${goQuote(name)}: ${detail}`;
  return failure(409, "Conflict", message, detailsOf(name, gr.group, gr.resource));
}

/** 409 of server-side apply; the causes name the fields. */
export function applyConflict(causes: StatusCause[], message: string): ApiError {
  return failure(409, "Conflict", message, { causes });
}

/** More causes than this are left out: formatting them would hold up other requests. */
const MAX_CAUSES = 1000;

/** 422: the object is refused, with one cause per field. Equal messages are printed once. */
export function invalid(gk: GroupKind, name: string, found: readonly FieldError[]): ApiError {
  const errors = found.length > MAX_CAUSES ? found.slice(0, MAX_CAUSES) : found;
  const causes = errors.map((e) => ({ reason: e.type, message: fieldErrorBody(e), field: e.field }));
  const texts = [...new Set(errors.map(fieldErrorText))];
  const list = texts.length === 1 ? `: ${texts[0]}` : texts.length === 0 ? "" : `: [${texts.join(", ")}]`;
  const details = detailsOf(name, gk.group, gk.kind, causes.length === 0 ? {} : { causes });
  return failure(422, "Invalid", `${qualified(gk.kind, gk.group)} ${goQuote(name)} is invalid${list}`, details);
}

/** 422 of a patch that cannot be carried out: upstream's fixed message, and the cause where upstream says nothing. */
export function unprocessablePatch(field: string, cause: string): ApiError {
  const causes = [{ reason: "FieldValueInvalid", message: cause, field }];
  return failure(422, "Invalid", "the server rejected our request due to an error in our request", { causes });
}

/** 403: not allowed, with the reason in `detail`. */
export function forbidden(gr: GroupResource, name: string, detail: string): ApiError {
  const what = qualified(gr.resource, gr.group);
  const subject =
    what === "" ? "forbidden" : name === "" ? `${what} is forbidden` : `${what} ${goQuote(name)} is forbidden`;
  return failure(403, "Forbidden", `${subject}: ${detail}`, detailsOf(name, gr.group, gr.resource));
}

/** 403: nothing can be created in a namespace that is being deleted. */
export function namespaceTerminating(gr: GroupResource, name: string, namespace: string): ApiError {
  const detail = `unable to create new content in namespace ${namespace} because it is being terminated`;
  const error = forbidden(gr, name, detail);
  const cause = {
    reason: "NamespaceTerminating",
    message: `namespace ${namespace} is being terminated`,
    field: "metadata.namespace",
  };
  return new ApiError({ ...error.status, details: { ...error.status.details, causes: [cause] } });
}

/** 400: the request cannot be understood. */
export function badRequest(message: string): ApiError {
  return failure(400, "BadRequest", message);
}

/** 401: the client is not authenticated. */
export function unauthorized(message = "Unauthorized"): ApiError {
  return failure(401, "Unauthorized", message);
}

/** 405: the verb does not exist for this resource. */
export function methodNotSupported(gr: GroupResource, verb: string): ApiError {
  const message = `${verb} is not supported on resources of kind ${goQuote(qualified(gr.resource, gr.group))}`;
  return failure(405, "MethodNotAllowed", message, detailsOf("", gr.group, gr.resource));
}

/** 406: no representation the client accepts. */
export function notAcceptable(message: string): ApiError {
  return failure(406, "NotAcceptable", message);
}

/** 415: a body in a format that is not understood. */
export function unsupportedMediaType(message: string): ApiError {
  return failure(415, "UnsupportedMediaType", message);
}

/** 410 with reason Gone. */
export function gone(message: string): ApiError {
  return failure(410, "Gone", message);
}

/** 410 with reason Expired: the resource version is too old; `continueToken` lets a list continue inconsistently. */
export function expired(message: string, continueToken?: string): ApiError {
  const error = failure(410, "Expired", message);
  return continueToken === undefined ? error : new ApiError({ ...error.status, metadata: { continue: continueToken } });
}

/** 504: the client requested a revision that does not exist yet. */
export function tooLargeResourceVersion(asked: number | bigint, current: number | bigint): ApiError {
  const message = `Timeout: Too large resource version: ${asked}, current: ${current}`;
  const causes = [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }];
  return failure(504, "Timeout", message, { causes, retryAfterSeconds: 1 });
}

/** 413: the body is too large. */
export function requestEntityTooLarge(message: string): ApiError {
  return failure(413, "RequestEntityTooLarge", `Request entity too large: ${message}`);
}

/** 429: come back after `retryAfterSeconds`. */
export function tooManyRequests(message: string, retryAfterSeconds: number): ApiError {
  return failure(429, "TooManyRequests", message, { retryAfterSeconds });
}

/** 500: an internal error. */
export function internalError(message: string): ApiError {
  return failure(500, "InternalError", `Internal error occurred: ${message}`, { causes: [{ message }] });
}

/** 503: temporarily unavailable. */
export function serviceUnavailable(message: string): ApiError {
  return failure(503, "ServiceUnavailable", message);
}

/** 504: it took too long; the operation may still happen. */
export function timeout(message: string, retryAfterSeconds?: number): ApiError {
  const details = retryAfterSeconds === undefined ? {} : { retryAfterSeconds };
  return failure(504, "Timeout", `Timeout: ${message}`, details);
}
