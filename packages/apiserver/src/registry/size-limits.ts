import { requestEntityTooLarge, type Unstructured } from "@capstan/apimachinery";
import { hasTooManyValues, maxValues } from "../server/json-scan.ts";
import type { WriteRequest } from "./core.ts";

/** Rejects an object that grew, by patches, defaults or owners, beyond what later requests can process in time. */
export function enforceSizeLimits(write: WriteRequest, object: Unstructured): void {
  if (write.pause === undefined) return;
  const most = maxValues(write.type.kind);
  if (hasTooManyValues(object, most))
    throw requestEntityTooLarge(
      `with its managedFields the object would have more than ${most} values: split it into several`,
    );
}
