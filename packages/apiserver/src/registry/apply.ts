import { applyPatch, badRequest, deepCopy, isObject, type Unstructured } from "@capstan/apimachinery";
import { compiledSchema } from "./compiled.ts";
import { apiVersionOf, type WriteOutcome, type WriteRequest } from "./core.ts";
import { createObject } from "./create.ts";
import { isCustom } from "./custom-type.ts";
import { type FieldValidation, finishDecoding } from "./decode.ts";
import { managerInput } from "./ownership.ts";
import { type Change, updateObject } from "./update.ts";

/** Server-side apply: merges the configuration into the live object, or creates it. */
export function applyObject(write: WriteRequest, body: unknown, validation: FieldValidation): Promise<WriteOutcome> {
  const config = checkedConfig(write, body, validation);
  const change = (old: Unstructured): Change => {
    const merged = applyPatch({ ...managerInput(write), live: old, patch: deepCopy(config), force: write.options.force });
    return { draft: settled(write, merged.object), owned: true };
  };
  if (write.subresource !== "") return updateObject(write, change);
  return updateObject(write, change, () => createApplied(write, config));
}

function createApplied(write: WriteRequest, config: Unstructured): Promise<WriteOutcome> {
  if (config.metadata.uid !== undefined) {
    throw badRequest("uid mismatch: the provided object specified uid, and no existing object was found");
  }
  const merged = applyPatch({ ...managerInput(write), live: undefined, patch: deepCopy(config), force: write.options.force });
  return createObject(write, settled(write, merged.object), true);
}

/** Defaults are filled in after the merge, so that nobody owns them. */
function settled(write: WriteRequest, merged: Unstructured): Unstructured {
  const draft = deepCopy(merged);
  if (isCustom(write.type)) compiledSchema(write.type.schema).applyDefaults(draft);
  else write.type.strategy.applyDefaults?.(draft);
  return draft;
}

/** The configuration in a form that can be merged: of the endpoint's type, unknown fields dealt with, without the other endpoint's half. */
function checkedConfig(write: WriteRequest, body: unknown, validation: FieldValidation): Unstructured {
  const { type } = write;
  if (!isObject(body)) throw badRequest("error decoding YAML: an apply patch is an object");
  const apiVersion = apiVersionOf(type);
  if (body["apiVersion"] !== apiVersion || body["kind"] !== type.kind) {
    throw badRequest(
      `Incorrect version specified in apply patch. Specified patch version: ${String(body["apiVersion"] ?? "")}, expected: ${apiVersion}`,
    );
  }
  const config = withoutDefaults(write, body, validation);
  if (config.metadata.managedFields !== undefined && config.metadata.managedFields.length > 0) {
    throw badRequest("metadata.managedFields must be nil");
  }
  const { name } = config.metadata;
  if (name !== undefined && name !== write.name) {
    throw badRequest(`name of the object (${name}) does not match the name on the URL (${write.name})`);
  }
  config.metadata.name = write.name;
  if (type.namespaced) config.metadata.namespace ??= write.namespace;
  if (write.subresource === "" && type.status) delete config["status"];
  if (write.subresource !== "status") return config;
  const { metadata, status } = config;
  const half: Unstructured = { apiVersion, kind: type.kind, metadata: identity(metadata) };
  if (status !== undefined) half["status"] = status;
  return half;
}

function identity(metadata: Unstructured["metadata"]): Unstructured["metadata"] {
  const { name, namespace, uid, resourceVersion } = metadata;
  return Object.fromEntries(Object.entries({ name, namespace, uid, resourceVersion }).filter(([, v]) => v !== undefined));
}

/** Decodes and complains about unknown fields, but keeps the configuration as it was sent: defaults must not become owned. */
function withoutDefaults(write: WriteRequest, body: Record<string, unknown>, validation: FieldValidation): Unstructured {
  const { type } = write;
  const copy = deepCopy(body);
  if (!isCustom(type)) {
    const { applyDefaults: _, ...strategy } = type.strategy;
    return finishDecoding({ ...type, strategy }, copy, validation, "error decoding patch: ");
  }
  const pruned = finishDecoding(type, copy, validation, "error decoding patch: ");
  const config = deepCopy(body) as Unstructured;
  if (!type.custom.preserveUnknownFields) compiledSchema(type.schema).prune(config, { root: true });
  config.metadata = pruned.metadata;
  return config;
}
