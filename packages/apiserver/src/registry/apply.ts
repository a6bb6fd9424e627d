import {
  type ApplyInput,
  applyPatch,
  applySteps,
  badRequest,
  conflict,
  isObject,
  type JsonObject,
  type Unstructured,
} from "@capstan/apimachinery";
import { inSteps } from "../long-work.ts";
import type { ResourceType } from "../types.ts";
import { compiledSchema } from "./compiled.ts";
import { type Convert, withConversions } from "./conversions.ts";
import { apiVersionOf, groupResource, type WriteOutcome, type WriteRequest } from "./core.ts";
import { createObject } from "./create.ts";
import { isCustom } from "./custom-type.ts";
import { type FieldValidation, finishDecoding } from "./decode.ts";
import { keptFields } from "./isolation.ts";
import { managerInput } from "./ownership.ts";
import { type Change, updateObject } from "./update.ts";

/** Server-side apply: merges the configuration into the live object, or creates it. */
export function applyObject(write: WriteRequest, body: unknown, validation: FieldValidation): Promise<WriteOutcome> {
  const config = checkedConfig(write, body, validation);
  const change = (old: Unstructured, pause?: () => Promise<void>): Change | Promise<Change> => {
    const draft = merge(write, old, config, pause);
    return draft instanceof Promise ? draft.then((made) => ({ draft: made, owned: true })) : { draft, owned: true };
  };
  if (write.subresource !== "") return updateObject(write, change);
  return updateObject(write, change, () => createApplied(write, config));
}

function input(write: WriteRequest, convert: Convert): ReturnType<typeof managerInput> {
  const ignore = ignoredFields(write.type, write.subresource);
  const known = managerInput(write, convert);
  return ignore === undefined ? known : { ...known, ignore };
}

async function createApplied(write: WriteRequest, config: Unstructured): Promise<WriteOutcome> {
  if (config.metadata.uid !== undefined) {
    const detail = `uid mismatch: the provided object specified uid ${config.metadata.uid}, and no existing object was found`;
    throw conflict(groupResource(write.type), write.name, detail);
  }
  const merged = merge(write, undefined, config, write.pause);
  const draft = merged instanceof Promise ? await merged : merged;
  delete draft.metadata.resourceVersion;
  return createObject(write, draft, true);
}

/** Live object and configuration in one; defaults are filled in after the merge, so that no manager owns them. */
function merge(
  write: WriteRequest,
  live: Unstructured | undefined,
  config: Unstructured,
  pause: WriteRequest["pause"],
): Unstructured | Promise<Unstructured> {
  const share = sharedPart(write.type, write.subresource);
  const work = (convert: Convert): Unstructured | Promise<Unstructured> => {
    const patch: ApplyInput = {
      ...input(write, convert),
      live,
      patch: config,
      force: write.options.force,
      ...(share === undefined ? {} : { share }),
    };
    if (pause === undefined) return applyPatch(patch).object;
    return inSteps(applySteps(patch), pause).then(({ object }) => object);
  };
  const merged = withConversions(write.type, work, "fail");
  return merged instanceof Promise
    ? merged.then((object) => finishMerge(write.type, object))
    : finishMerge(write.type, merged);
}

function finishMerge(type: ResourceType, draft: Unstructured): Unstructured {
  if (isCustom(type)) {
    compiledSchema(type.schema).applyDefaults(draft);
    for (const map of ["labels", "annotations"] as const)
      if (draft.metadata[map] !== undefined && Object.keys(draft.metadata[map]).length === 0)
        delete draft.metadata[map];
    return draft;
  }
  // Scalars of the wrong type pass the merge; Go's decoder stops them.
  return finishDecoding(type, draft as Record<string, unknown>, { mode: "Ignore", duplicates: [], warn: () => {} }, "");
}

/**
 * What a write need not copy of a stored custom resource: a status write changes nothing else, and other writes never change
 * its status, nor does any admission plugin.
 */
export function sharedPart(type: ResourceType, subresource: string): "all" | "status" | undefined {
  if (!isCustom(type) || type.version !== type.storageVersion || !type.status) return undefined;
  if (subresource === "status") return "all";
  return subresource === "" ? "status" : undefined;
}

/** The configuration as it will be merged: of the endpoint's type and name, otherwise as it was sent. */
function checkedConfig(write: WriteRequest, body: unknown, validation: FieldValidation): Unstructured {
  const { type } = write;
  if (body === null) throw badRequest("invalid object type: /, Kind=");
  if (!isObject(body)) {
    const what = Array.isArray(body) ? "array" : typeof body === "boolean" ? "bool" : typeof body;
    throw badRequest(
      `error decoding patch: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal ${what} into Go value of type map[string]interface {}`,
    );
  }
  const config = { ...body } as Unstructured;
  checkAppliedType(config, apiVersionOf(type), type.kind);
  if (validation.duplicates.length > 0) {
    if (validation.mode === "Strict")
      throw badRequest(`error strict decoding YAML: ${validation.duplicates.join(", ")}`);
    if (validation.mode === "Warn") for (const text of validation.duplicates) validation.warn(text);
  }
  config.metadata = isObject(config.metadata) ? { ...config.metadata } : {};
  const { name } = config.metadata;
  if (name !== undefined && name !== write.name) {
    throw badRequest(`the name of the object (${name}) does not match the name on the URL (${write.name})`);
  }
  config.metadata.name = write.name;
  return config;
}

/** The applied configuration must name the endpoint's apiVersion and kind. */
export function checkAppliedType(config: JsonObject, takenVersion: string, takenKind: string): void {
  const apiVersion = String(config["apiVersion"] ?? "");
  const kind = String(config["kind"] ?? "");
  if (apiVersion === takenVersion && kind === takenKind) return;
  const slash = apiVersion.indexOf("/");
  const gv = slash < 0 ? `/${apiVersion}` : apiVersion;
  throw badRequest(`invalid object type: ${gv}, Kind=${kind}`);
}

const MAIN_IGNORES = [["status"]] as const;
const ignored = new WeakMap<ResourceType, Map<string, readonly (readonly string[])[]>>();

/** Fields the endpoint resets whatever is applied: no manager comes to own them through it. */
function ignoredFields(type: ResourceType, subresource: string): readonly (readonly string[])[] | undefined {
  if (subresource === "") return type.status ? MAIN_IGNORES : undefined;
  if (subresource !== "status") return keptFields(type, subresource);
  let known = ignored.get(type);
  if (known === undefined) {
    known = new Map();
    ignored.set(type, known);
  }
  let fields = known.get(subresource);
  if (fields === undefined) {
    const names = new Set([...Object.keys(type.schema.properties ?? {}), "spec"]);
    if (isCustom(type)) names.add("metadata");
    else names.delete("metadata");
    fields = [...names].filter((n) => n !== "status" && n !== "apiVersion" && n !== "kind").map((n) => [n]);
    known.set(subresource, fields);
  }
  return fields;
}
