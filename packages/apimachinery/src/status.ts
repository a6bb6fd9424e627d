/** metav1.Status: the body of the response to a failed request. */
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

/** metav1.StatusDetails: the object that a Status is about, and the causes of the failure. */
export interface StatusDetails {
  name?: string;
  group?: string;
  kind?: string;
  uid?: string;
  causes?: StatusCause[];
  retryAfterSeconds?: number;
}

/** metav1.StatusCause: one cause of a failure, such as one invalid field. */
export interface StatusCause {
  reason?: string;
  message?: string;
  field?: string;
}

/** The error of a failed API request. Clients throw it for a server's Status; the server throws it to send one. */
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
