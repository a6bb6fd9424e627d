import { isReason, type KubeObject } from "@capstan/apimachinery";
import type { Client } from "../client/client.ts";
import type { WriteOptions } from "../client/options.ts";

/** Creates an object unless there is one of its name already, which stays as it is. Returns whether it was created. */
export async function createIfAbsent<T extends KubeObject>(
  client: Client,
  object: T,
  options: WriteOptions = {},
  signal?: AbortSignal,
): Promise<boolean> {
  try {
    await client.create(object, options, signal);
    return true;
  } catch (error) {
    if (isReason(error, "AlreadyExists")) return false;
    throw error;
  }
}
