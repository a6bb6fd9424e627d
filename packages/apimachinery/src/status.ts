/** A Kubernetes `Status` object: every failed request carries one. */
export interface Status {
  kind: "Status";
  apiVersion: "v1";
  metadata: { continue?: string };
  status: "Failure" | "Success";
  message?: string;
  reason?: string;
  details?: StatusDetails;
  code?: number;
}

export interface StatusDetails {
  name?: string;
  group?: string;
  kind?: string;
  uid?: string;
  causes?: StatusCause[];
  retryAfterSeconds?: number;
}

export interface StatusCause {
  reason?: string;
  message?: string;
  field?: string;
}

/** A request that failed, with the Status a Kubernetes API server answers (or answered). */
export class ApiError extends Error {
  readonly status: Status;

  constructor(status: Status) {
    super(status.message ?? status.reason ?? "request failed");
    this.name = "ApiError";
    this.status = status;
  }

  get code(): number {
    return this.status.code ?? 500;
  }

  get reason(): string {
    return this.status.reason ?? "";
  }
}

/** Whether `error` is an ApiError with one of the given reasons, e.g. `isReason(e, "NotFound", "Gone")`. */
export function isReason(error: unknown, ...reasons: string[]): error is ApiError {
  return error instanceof ApiError && reasons.includes(error.reason);
}
