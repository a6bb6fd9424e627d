import {
  applyJsonPatch,
  applyMergePatch,
  applyStrategicMergePatch,
  badRequest,
  deepCopy,
  isObject,
  type Unstructured,
  unsupportedMediaType,
} from "@capstan/apimachinery";
import type { ResourceType } from "../types.ts";
import type { WriteOutcome, WriteRequest } from "./core.ts";
import { type FieldValidation, finishDecoding } from "./decode.ts";
import { type Change, updateObject } from "./update.ts";

/** The three patches that describe a change; apply has its own file. */
export type PatchType = "json" | "merge" | "strategic" | "apply";

const TYPES: Readonly<Record<string, PatchType>> = {
  "application/json-patch+json": "json",
  "application/merge-patch+json": "merge",
  "application/strategic-merge-patch+json": "strategic",
  "application/apply-patch+yaml": "apply",
};

/** Which patch a content type means for this resource; 415 otherwise. */
export function patchTypeOf(type: ResourceType, contentType: string): PatchType {
  const patch = TYPES[contentType];
  if (patch !== undefined && (patch !== "strategic" || type.strategicMerge)) return patch;
  const accepted = Object.entries(TYPES)
    .filter(([, kind]) => kind !== "strategic" || type.strategicMerge)
    .map(([name]) => name);
  throw unsupportedMediaType(
    `the body of the request was in an unknown format - accepted media types include: ${accepted.join(", ")}`,
  );
}

/** Applies a JSON, merge or strategic merge patch: again from the newest state when somebody else was faster. */
export function patchObject(
  write: WriteRequest,
  patchType: Exclude<PatchType, "apply">,
  patch: unknown,
  validation: FieldValidation,
): Promise<WriteOutcome> {
  return updateObject(write, (old) => patchedDraft(write.type, patchType, old, patch, validation));
}

function patchedDraft(
  type: ResourceType,
  patchType: Exclude<PatchType, "apply">,
  old: Unstructured,
  patch: unknown,
  validation: FieldValidation,
): Change {
  const result = deepCopy(applyOf(type, patchType, old, patch));
  if (!isObject(result)) throw badRequest("the patch does not leave an object");
  if (result["apiVersion"] !== old.apiVersion || result["kind"] !== old.kind) {
    throw badRequest(
      `the patch may not change apiVersion or kind (${old.apiVersion} ${old.kind}): send the object to the endpoint of its own type`,
    );
  }
  return { draft: finishDecoding(type, result, validation, ""), owned: false };
}

/** The patched document, which may share parts with the frozen original. */
export function applyOf(type: ResourceType, patchType: Exclude<PatchType, "apply">, old: object, patch: unknown): unknown {
  switch (patchType) {
    case "json":
      return applyJsonPatch(old, patch);
    case "merge":
      if (!isObject(patch)) throw badRequest("error decoding patch: a merge patch is an object");
      return applyMergePatch(old, patch);
    case "strategic":
      if (!isObject(patch)) throw badRequest("error decoding patch: a strategic merge patch is an object");
      return applyStrategicMergePatch(old, patch, type.schema);
  }
}
