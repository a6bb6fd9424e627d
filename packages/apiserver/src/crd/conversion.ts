import { deepCopy, internalError, type Unstructured } from "@capstan/apimachinery";
import type { VersionConverter } from "../registry/custom-type.ts";
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
      return checkedConversion(object, converter.convert(deepCopy(object), version), toApiVersion);
    },
  };
}

/** A conversion may change labels and annotations but no other metadata, and must give what was asked for. */
export function checkedConversion(before: Unstructured, after: Unstructured, toApiVersion: string): Unstructured {
  if (after.apiVersion !== toApiVersion || after.kind !== before.kind) {
    throw internalError(
      `conversion of ${before.kind} from ${before.apiVersion} gave ${after.apiVersion} ${after.kind} instead of ${toApiVersion}`,
    );
  }
  const { labels, annotations } = after.metadata;
  const metadata = { ...before.metadata };
  delete metadata.labels;
  delete metadata.annotations;
  if (labels !== undefined) metadata.labels = labels;
  if (annotations !== undefined) metadata.annotations = annotations;
  const { apiVersion, kind, metadata: _, ...rest } = after;
  return { apiVersion, kind, metadata, ...rest };
}
