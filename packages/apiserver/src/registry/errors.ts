import { ApiError, type Status } from "@capstan/apimachinery";

/** 500 without a reason: how upstream reports a conversion between versions that failed. Mistakes of clients are never 5xx. */
export function bareError(message: string): ApiError {
  return new ApiError(failure(500, undefined, message, undefined));
}

/** 404 of a path that no resource answers to. */
export function notServed(): ApiError {
  return new ApiError(failure(404, "NotFound", "the server could not find the requested resource", {}));
}

/** 405 of a path that exists but not for this method. */
export function methodNotAllowed(): ApiError {
  return new ApiError(
    failure(405, "MethodNotAllowed", "the server does not allow this method on the requested resource", {}),
  );
}

/** 415 or 406 with the message of the router in front of built-in kinds. */
export function routerRefusal(code: 406 | "406 watch" | "406 JSON" | 415): ApiError {
  const others = ", application/yaml, application/vnd.kubernetes.protobuf";
  const streams = ", application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch";
  return code === 415
    ? new ApiError(failure(415, "UnsupportedMediaType", "415: Unsupported Media Type", {}))
    : new ApiError(
        failure(
          406,
          "NotAcceptable",
          `406: Not Acceptable\n\nAvailable representations: application/json${code === "406 JSON" ? "" : others}${code === "406 watch" ? streams : ""}`,
          {},
        ),
      );
}

function failure(
  code: number,
  reason: string | undefined,
  message: string,
  details: Status["details"] | undefined,
): Status {
  return {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message,
    reason,
    details,
    code,
  };
}
