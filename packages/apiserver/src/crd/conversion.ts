import {
  deepCopy,
  deepEqual,
  fieldErrorText,
  isObject,
  type Unstructured,
  validateAnnotations,
  validateLabels,
} from "@capstan/apimachinery";
import { aggregate } from "../auth/rbac-authorizer.ts";
import type { VersionConverter } from "../registry/custom-type.ts";
import { bareError } from "../registry/errors.ts";
import type { Converter } from "../types.ts";
import type { CustomResourceDefinition } from "./crd-object.ts";
import type { ConversionWebhook } from "./webhook-converter.ts";

/** `None`: versions differ in name only. */
export const RENAME: VersionConverter = {
  async: false,
  convert: (object, toApiVersion) => ({ ...object, apiVersion: toApiVersion }),
};

/** Which conversion a CRD uses: one registered in process comes first, then what its spec says. */
export function converterFor(
  crd: CustomResourceDefinition,
  converters: readonly Converter[],
  webhook: ConversionWebhook,
): VersionConverter {
  const { group, names, conversion } = crd.spec;
  const own = converters.find((c) => c.group === group && c.kind === names.kind);
  if (own !== undefined) return inProcess(own);
  if (conversion?.strategy !== "Webhook") return RENAME;
  return { async: true, convert: (objects, toApiVersion) => webhook(crd, objects, toApiVersion) };
}

function inProcess(converter: Converter): VersionConverter {
  return {
    async: false,
    convert: (object, toApiVersion) => {
      if (object.apiVersion === toApiVersion) return object;
      const version = toApiVersion.slice(toApiVersion.indexOf("/") + 1);
      try {
        return checkedConversion(object, converter.convert(deepCopy(object), version), toApiVersion);
      } catch (error) {
        if (!(error instanceof InvalidConversion)) throw error;
        throw bareError(`the conversion of ${object.apiVersion}, Kind=${object.kind} ${error.message}`);
      }
    },
  };
}

/** An invalid conversion result; the message follows the converter's name. */
export class InvalidConversion extends Error {}

/** A conversion may change labels and annotations but no other metadata, and must return the requested version. */
export function checkedConversion(
  before: Unstructured,
  after: Unstructured,
  toApiVersion: string,
  index = 0,
): Unstructured {
  const differ = (what: string, expected: unknown, received: unknown): never => {
    const values = `(expected ${String(expected)}, received ${String(received)})`;
    throw new InvalidConversion(`returned invalid object at index ${index}: invalid ${what} ${values}`);
  };
  if (after.apiVersion !== toApiVersion) differ("groupVersion", toApiVersion, after.apiVersion);
  if (after.kind !== before.kind) differ("kind", before.kind, after.kind);
  const converted: unknown = after.metadata;
  if (!isObject(converted))
    throw new InvalidConversion("returned invalid metadata: missing metadata in converted object");
  for (const [field, shown] of IDENTITY) {
    const [old, now] = [before.metadata[field] ?? "", converted[field] ?? ""];
    if (old !== now)
      throw new InvalidConversion(`returned invalid object: must have the same ${shown}: ${old} != ${String(now)}`);
  }
  const metadata = { ...before.metadata };
  for (const map of ["labels", "annotations"] as const) {
    const value = checkedMap(map, before.metadata[map], converted[map]);
    if (value === undefined) delete metadata[map];
    else metadata[map] = value;
  }
  const { apiVersion, kind, metadata: _, ...rest } = after;
  return { apiVersion, kind, metadata, ...rest };
}

const IDENTITY = [
  ["name", "name"],
  ["namespace", "namespace"],
  ["uid", "UID"],
] as const;

function checkedMap(
  name: "labels" | "annotations",
  before: Record<string, string> | undefined,
  after: unknown,
): Record<string, string> | undefined {
  const refuse = (why: string): never => {
    throw new InvalidConversion(`returned invalid metadata: ${why}`);
  };
  if (after === undefined || after === null) return undefined;
  if (!isObject(after)) return refuse(`invalid metadata.${name} in converted object: it is no map`);
  for (const [key, value] of Object.entries(after))
    if (typeof value !== "string")
      refuse(`metadata.${name}[${key}] must be a string, but is ${goType(value)} in converted object`);
  const map = after as Record<string, string>;
  if (deepEqual(map, before ?? {})) return map;
  const errors =
    name === "labels" ? validateLabels(map, "metadata.labels") : validateAnnotations(map, "metadata.annotation");
  if (errors.length > 0) refuse(aggregate(errors.map(fieldErrorText)));
  return map;
}

function goType(value: unknown): string {
  if (typeof value === "number") return Number.isInteger(value) ? "int64" : "float64";
  if (typeof value === "boolean") return "bool";
  if (value === null) return "<nil>";
  return Array.isArray(value) ? "[]interface {}" : "map[string]interface {}";
}
