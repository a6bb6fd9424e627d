import type { Unstructured } from "@capstan/apimachinery";
import type { ResourceType } from "../types.ts";
import { isCustom, type VersionConverter } from "./custom-type.ts";

/** Returns an object in another version of its kind. */
export type Convert = (object: Unstructured, apiVersion: string) => Unstructured;

/** A conversion that is needed and has not been requested from the webhook yet. */
class NotYetConverted extends Error {
  readonly key: string;
  readonly object: Unstructured;
  readonly apiVersion: string;

  constructor(key: string, object: Unstructured, apiVersion: string) {
    super(`not yet converted to ${apiVersion}`);
    this.key = key;
    this.object = object;
    this.apiVersion = apiVersion;
  }
}

const renamed: Convert = (object, apiVersion) => ({ ...object, apiVersion });

/**
 * Runs work that converts objects on its way. Where a webhook converts, the work is restarted each time one more conversion is known:
 * it must have no side effects, and needs a conversion only for owners that wrote in another version, which are few.
 */
export function withConversions<Result>(
  type: ResourceType,
  work: (convert: Convert) => Result | Promise<Result>,
  onFailure: "fail" | "rename",
): Result | Promise<Result> {
  if (!isCustom(type)) return work(renamed);
  const { converter } = type.custom;
  if (converter.async) return askingAsNeeded(converter, work, onFailure);
  return work((object, apiVersion) => converter.convert(object, apiVersion));
}

async function askingAsNeeded<Result>(
  webhook: Extract<VersionConverter, { async: true }>,
  work: (convert: Convert) => Result | Promise<Result>,
  onFailure: "fail" | "rename",
): Promise<Result> {
  const known = new Map<string, Unstructured>();
  const convert: Convert = (object, apiVersion) => {
    // What there is before a create has no metadata, and nothing that a webhook could convert.
    if ((object.metadata as object | undefined) === undefined) return renamed(object, apiVersion);
    const key = `${apiVersion}\n${JSON.stringify(object)}`;
    const found = known.get(key);
    if (found === undefined) throw new NotYetConverted(key, object, apiVersion);
    return found;
  };
  for (;;) {
    try {
      return await work(convert);
    } catch (error) {
      if (!(error instanceof NotYetConverted)) throw error;
      known.set(error.key, await ask(webhook, error, onFailure));
    }
  }
}

async function ask(
  webhook: Extract<VersionConverter, { async: true }>,
  { object, apiVersion }: NotYetConverted,
  onFailure: "fail" | "rename",
): Promise<Unstructured> {
  try {
    const [converted] = await webhook.convert([object], apiVersion);
    return converted ?? renamed(object, apiVersion);
  } catch (error) {
    if (onFailure === "fail") throw error;
    return renamed(object, apiVersion);
  }
}
