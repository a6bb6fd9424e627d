import { WorkloadUnavailable } from "@capstan/capi";
import { Stopped } from "./progress.ts";

/** Calls that are limited so that a cluster that hangs never holds more than half of the controller's workers. */
export const WORKLOAD_CALLS = { maxInFlight: 10, busyMs: 20 };

/** Returns the progress that a failed call to a workload cluster leads to; errors of its server are returned unchanged. */
export function afterCall(error: unknown): unknown {
  if (!(error instanceof WorkloadUnavailable)) return error;
  const { failure, retryMs } = error;
  if (failure === undefined) return new Stopped({ step: "later", afterMs: retryMs });
  const message = `Waiting for the workload cluster to accept a join token: ${failure}`;
  return new Stopped({ step: "failed", message, certificates: true, retryAfterMs: retryMs });
}
