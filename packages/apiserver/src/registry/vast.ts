import { requestEntityTooLarge, type Unstructured } from "@capstan/apimachinery";
import { hasTooManyValues, maxValues } from "../server/json-scan.ts";
import type { WriteRequest } from "./core.ts";

/** Refuses an object that grew, by patches, defaults or owners, beyond what later requests can work on in time. */
export function refuseVast(write: WriteRequest, object: Unstructured): void {
  if (write.pause === undefined) return;
  const most = maxValues(write.type.kind);
  if (hasTooManyValues(object, most))
    throw requestEntityTooLarge(
      `with its managedFields the object would have more than ${most} values: split it into several`,
    );
}
