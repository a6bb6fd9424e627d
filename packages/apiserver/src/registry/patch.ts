import {
  ApiError,
  applyJsonPatch,
  applyMergePatch,
  applyStrategicMergePatch,
  badRequest,
  deepCopy,
  goJson,
  invalid,
  invalidValue,
  isObject,
  type Unstructured,
  unsupportedMediaType,
} from "@capstan/apimachinery";
import type { ResourceType } from "../types.ts";
import { sharedPart } from "./apply.ts";
import type { WriteOutcome, WriteRequest } from "./core.ts";
import { isCustom } from "./custom-type.ts";
import { type FieldValidation, finishDecoding, mustBe } from "./decode.ts";
import { routerRefusal } from "./errors.ts";
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
  if (type.builtin) throw routerRefusal(415);
  const accepted = Object.entries(TYPES)
    .filter(([, kind]) => kind !== "strategic" || type.strategicMerge)
    .map(([name]) => name);
  throw unsupportedMediaType(
    `the body of the request was in an unknown format - accepted media types include: ${accepted.join(", ")}`,
  );
}

/** Applies a JSON, merge or strategic merge patch: retries from the newest state when another client was faster. */
export function patchObject(
  write: WriteRequest,
  patchType: Exclude<PatchType, "apply">,
  patch: unknown,
  validation: FieldValidation,
): Promise<WriteOutcome> {
  const { type } = write;
  return updateObject(write, (old, pause) => {
    if (pause === undefined) return patchedDraft(write, applyOf(type, patchType, old, patch), old, validation);
    return pause()
      .then(() => applyOf(type, patchType, old, patch))
      .then((result) => pause().then(() => patchedDraft(write, result, old, validation)));
  });
}

/** What a patch leaves as an object of the type; 422 when it is none. */
export function patchedDraft(
  { type, subresource }: Pick<WriteRequest, "type" | "subresource">,
  result: unknown,
  old: Unstructured,
  validation: FieldValidation,
): Change {
  if (!isObject(result)) throw badRequest("the patch does not leave an object");
  if (!isCustom(type) && Object.keys(result).length === 0)
    throw badRequest(
      `the name of the object (${old.metadata.name} based on URL) was undeterminable: name must be provided`,
    );
  // What a patch makes of an object is refused as a bad value of the patch, with the whole outcome as that value.
  const refuse = (why: string): ApiError =>
    invalid({ group: "", kind: "" }, "", [invalidValue("patch", goJson(result), why)]);
  if (isCustom(type)) {
    if (result["kind"] !== old.kind) throw mustBe(type, result, "kind", old.kind);
    if (result["apiVersion"] !== old.apiVersion) throw mustBe(type, result, "apiVersion", old.apiVersion);
  } else if (result["apiVersion"] !== old.apiVersion || result["kind"] !== old.kind) {
    throw refuse(`illegal change of apiVersion or kind: this is ${old.apiVersion} ${old.kind}`);
  }
  try {
    const { status, ...rest } = result;
    const kept = status !== undefined && status === old["status"] && sharedPart(type, subresource) === "status";
    const copy = kept ? { ...deepCopy(rest), status } : deepCopy(result);
    return { draft: finishDecoding(type, copy, validation, ""), owned: false };
  } catch (error) {
    throw error instanceof ApiError && error.code === 400 ? refuse(withoutKind(error.message)) : error;
  }
}

/** The decoder's complaint without the introduction that only fits whole objects. */
function withoutKind(message: string): string {
  const at = message.indexOf(": json: ");
  return at < 0 ? message : message.slice(at + 2);
}

/** The patched document, which may share parts with the frozen original. */
export function applyOf(
  type: ResourceType,
  patchType: Exclude<PatchType, "apply">,
  old: object,
  patch: unknown,
): unknown {
  switch (patchType) {
    case "json":
      if (!Array.isArray(patch))
        throw badRequest(`error decoding patch: ${goMismatch(patch, "[]handlers.jsonPatchOp")}`);
      return jsonPatched(old, patch);
    case "merge":
      if (!isObject(patch))
        throw badRequest(
          patch === null
            ? "Invalid JSON Patch"
            : `error decoding patch: ${goMismatch(patch, "map[string]interface {}")}`,
        );
      return applyMergePatch(old, patch);
    case "strategic":
      if (!isObject(patch)) throw badRequest(goMismatch(patch, "map[string]interface {}"));
      return applyStrategicMergePatch(old, patch, type.schema);
  }
}

/** Upstream reports what failed in the message only. */
function jsonPatched(old: object, patch: unknown): unknown {
  try {
    return applyJsonPatch(old, patch);
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 422) throw error;
    throw new ApiError({ ...error.status, details: {} });
  }
}

function goMismatch(value: unknown, goType: string): string {
  const kind = Array.isArray(value)
    ? "array"
    : isObject(value)
      ? "object"
      : typeof value === "boolean"
        ? "bool"
        : typeof value;
  return `json: cannot unmarshal ${kind} into Go value of type ${goType}`;
}
