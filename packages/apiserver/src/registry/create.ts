import {
  alreadyExists,
  badRequest,
  forbidden,
  generateNameConflict,
  methodNotSupported,
  randomSuffix,
  type Unstructured,
} from "@capstan/apimachinery";
import { type Admission, admissionFor, runMutating, runValidating } from "./admission.ts";
import { groupResource, type WriteOutcome, type WriteRequest } from "./core.ts";
import { isCustom } from "./custom-type.ts";
import { isolateCreate } from "./isolation.ts";
import { storageKey } from "./keys.ts";
import { ownCreated } from "./ownership.ts";
import { enforceSizeLimits } from "./size-limits.ts";
import { dropDuplicateOwners, fillSystemMetadata, settleNamespace, warnBareFinalizers } from "./system-metadata.ts";
import { validateCreate } from "./validate.ts";
import { toStorage, viewOf } from "./views.ts";

/** Kubernetes tries this often to find a free generated name. */
const GENERATE_ATTEMPTS = 8;
const MAX_GENERATED_PREFIX = 58;

/** Creates an object from a decoded, private draft. `owned` = field ownership is settled already (apply creates). */
export async function createObject(write: WriteRequest, draft: Unstructured, owned = false): Promise<WriteOutcome> {
  const { core, type } = write;
  const meta = draft.metadata;
  if (type.strategy.createOnly !== undefined) return review(write, draft);
  if (isCustom(type) && type.custom.terminating) {
    const error = "create not allowed while custom resource definition is terminating";
    throw forbidden(groupResource(type), meta.name ?? "", error);
  }
  settleNamespace(type, meta, write.namespace);
  const versioned = meta.resourceVersion !== undefined && meta.resourceVersion !== "0";
  delete meta.resourceVersion;
  fillSystemMetadata(core, type, meta);
  dropDuplicateOwners(meta, write.warn);
  warnBareFinalizers(type, meta, undefined, write.warn);
  isolateCreate(type, draft);
  if (write.pause !== undefined) await write.pause();
  const owning = owned ? undefined : ownCreated(write, draft);
  if (owning instanceof Promise) await owning;
  if (write.pause !== undefined) await write.pause();
  const admission = admissionFor(write, "CREATE", draft, undefined, createOptions(write));
  const mutating = runMutating(admission);
  if (mutating !== undefined) await mutating;
  const admitted = admission.request.object ?? draft;
  settleNamespace(type, admitted.metadata, write.namespace);
  return storeNew(write, admission, admitted, versioned);
}

/** The options of a create as admission shows them. */
export function createOptions(write: WriteRequest): Record<string, unknown> {
  const given = write.options.givenFieldValidation;
  return {
    kind: "CreateOptions",
    apiVersion: "meta.k8s.io/v1",
    ...(write.options.dryRun ? { dryRun: ["All"] } : {}),
    ...(write.options.fieldManager === "" ? {} : { fieldManager: write.options.fieldManager }),
    fieldValidation: given,
  };
}

async function storeNew(
  write: WriteRequest,
  admission: Admission,
  draft: Unstructured,
  versioned: boolean,
): Promise<WriteOutcome> {
  const { core, type } = write;
  const prefix = draft.metadata.name === undefined ? (draft.metadata.generateName ?? "") : "";
  for (let attempt = 1; ; attempt++) {
    if (prefix !== "") draft.metadata.name = prefix.slice(0, MAX_GENERATED_PREFIX) + randomSuffix(core.random);
    if (type.strategy.noGeneration !== true) draft.metadata.generation = 1;
    type.strategy.prepareForCreate?.(draft, { user: write.user });
    type.strategy.settleAmongOthers?.(draft, undefined);
    if (write.pause !== undefined) await type.strategy.judgeAhead?.(draft, write.pause);
    validateCreate(type, draft);
    for (const text of type.strategy.warnings?.(draft) ?? []) write.warn(text);
    if (type.createWarning !== undefined) write.warn(type.createWarning);
    if (write.pause !== undefined) await write.pause();
    const name = draft.metadata.name ?? "";
    const validating = runValidating(admission);
    if (validating !== undefined) await validating;
    // Upstream's store reports this, which a dry run does not reach.
    if (versioned && !write.options.dryRun)
      throw badRequest("resourceVersion should not be set on objects to be created");
    enforceSizeLimits(write, draft);
    if (write.pause !== undefined) await write.pause();
    const key = storageKey(type, write.namespace, name);
    if (core.store.peek(key) === undefined) {
      if (write.options.dryRun) return { status: 201, object: draft };
      const storing = toStorage(type, draft);
      const stored = await commitNew(write, key, storing instanceof Promise ? await storing : storing);
      if (stored !== undefined) return stored;
    }
    if (prefix === "") {
      // The winner may not be durable yet; a client that gets "already exists" must be able to read it.
      await core.store.mutate(key, () => ({ type: "none" }));
      throw alreadyExists(groupResource(type), name);
    }
    if (attempt >= GENERATE_ATTEMPTS) throw generateNameConflict(groupResource(type), name, 1);
  }
}

/** Undefined when another client took the name in the meantime. */
async function commitNew(write: WriteRequest, key: string, object: Unstructured): Promise<WriteOutcome | undefined> {
  const { core, type } = write;
  let taken = false;
  const result = await core.store.mutate(key, (current) => {
    taken = current !== undefined;
    if (taken) return { type: "none" };
    type.strategy.settleAmongOthers?.(object, undefined);
    return { type: "put", object };
  });
  if (taken || result.stored === undefined) return undefined;
  core.committed(type);
  const view = viewOf(type, result.stored);
  const seen = view instanceof Promise ? await view : view;
  return { status: 201, object: seen.object, view: seen };
}

/** Reviews answer at once and are never stored. */
async function review(write: WriteRequest, draft: Unstructured): Promise<WriteOutcome> {
  const answer = write.type.strategy.createOnly;
  if (answer === undefined) throw methodNotSupported(groupResource(write.type), "create");
  await ownCreated(write, draft);
  const object = await answer(draft, { user: write.user, namespace: write.namespace, api: write.core.internal() });
  return { status: 201, object };
}
