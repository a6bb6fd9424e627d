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

/** The ApiError of a failed answer. */
export function responseError(response: Pick<ApiResponse, "status" | "body">, what: string): ApiError {
  const { body, status: code } = response;
  if (isStatus(body)) return new ApiError(body.code === undefined ? { ...body, code } : body);
  const text = typeof body === "string" && body.length > 0 ? `: ${body.trim().slice(0, 200)}` : "";
  return new ApiError({
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message: `the server answered ${code} to ${what}${text}`,
    reason: REASONS[code] ?? (code >= 500 ? "InternalError" : "Unknown"),
    code,
  });
}

/** Whether a body is a Status object. */
export function isStatus(body: unknown): body is Status {
  return isObject(body) && body["kind"] === "Status" && body["apiVersion"] === "v1";
}
