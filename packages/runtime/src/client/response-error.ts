import { ApiError, type ApiResponse, isObject, type Status } from "@capstan/apimachinery";

/** Reasons client-go assumes for answers that carry no Status of their own (a proxy, an old server, plain text). */
const REASONS: Record<number, string> = {
  400: "BadRequest",
  401: "Unauthorized",
  403: "Forbidden",
  404: "NotFound",
  405: "MethodNotAllowed",
  406: "NotAcceptable",
  409: "Conflict",
  410: "Gone",
  413: "RequestEntityTooLarge",
  415: "UnsupportedMediaType",
  422: "Invalid",
  429: "TooManyRequests",
  500: "InternalError",
  503: "ServiceUnavailable",
  504: "Timeout",
};

/**
 * Converts an error response to an ApiError. Only the message of a Status is used: other bodies may have any origin, and errors end up in
 * conditions.
 */
export function responseError(response: Pick<ApiResponse, "status" | "body">, what: string): ApiError {
  const { body, status: code } = response;
  if (isStatus(body)) return new ApiError({ ...body, ...shortened(body), code: body.code ?? code });
  return new ApiError({
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message: `the server answered ${code} to ${what}`,
    reason: REASONS[code] ?? (code >= 500 ? "InternalError" : "Unknown"),
    code,
  });
}

/** No list of mistakes is longer, and errors are kept in conditions. */
const MAX_MESSAGE = 8 * 1024;

function shortened({ message }: Status): Pick<Status, "message"> {
  return typeof message === "string" && message.length > MAX_MESSAGE
    ? { message: `${message.slice(0, MAX_MESSAGE)} …` }
    : {};
}

/** Returns whether a body is a Status object. */
export function isStatus(body: unknown): body is Status {
  return isObject(body) && body["kind"] === "Status" && body["apiVersion"] === "v1";
}
