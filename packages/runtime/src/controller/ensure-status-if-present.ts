import { isReason, type KubeObject } from "@capstan/apimachinery";
import type { ReconcileContext } from "./types.ts";

/** Writes the status of the reconciled object as `context.ensureStatus` does, unless the object was deleted in the meantime. */
export async function ensureStatusIfPresent<T extends KubeObject>(
  context: Pick<ReconcileContext, "ensureStatus">,
  desired: T,
  live: T | undefined,
): Promise<void> {
  try {
    await context.ensureStatus(desired, live);
  } catch (error) {
    if (!isReason(error, "NotFound")) throw error;
  }
}
