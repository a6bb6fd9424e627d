import {
  type ApiError,
  badRequest,
  fieldSelector,
  isObject,
  methodNotSupported,
  notFound,
  parseFieldSelector,
  type Unstructured,
  type UserInfo,
} from "@capstan/apimachinery";
import { yieldToEventLoop } from "@capstan/apimachinery/foreign";
import { bodyType, defineBuiltin } from "../builtin/define.ts";
import { admissionFor, runMutating, runValidating } from "../registry/admission.ts";
import { applyObject, checkAppliedType } from "../registry/apply.ts";
import { groupResource, type RegistryCore, type WriteOutcome, type WriteRequest } from "../registry/core.ts";
import { createObject, createOptions } from "../registry/create.ts";
import { isCustom } from "../registry/custom-type.ts";
import { checkKind, decodeObject, type FieldValidation, textOf } from "../registry/decode.ts";
import { deleteObject } from "../registry/delete.ts";
import { deleteCollection } from "../registry/delete-collection.ts";
import { methodNotAllowed, notServed, routerRefusal } from "../registry/errors.ts";
import { getObject, listObjects } from "../registry/list.ts";
import { applyOf, patchedDraft, patchObject, patchTypeOf } from "../registry/patch.ts";
import { type Presentation, presentEvents, presentList, presentObject } from "../registry/representations.ts";
import { checkFields } from "../registry/selection.ts";
import { applyScale, scaleOf, updateScale } from "../registry/subresource-scale.ts";
import { settleNamespace } from "../registry/system-metadata.ts";
import { updateObject } from "../registry/update.ts";
import { openWatch } from "../registry/watch.ts";
import type { RequestAttributes, ResourceType, SubresourceHandler, SubresourceType, Verb } from "../types.ts";
import type { ApiCall } from "./api-call.ts";
import {
  checkMediaType,
  isLarge,
  mediaTypeOf,
  type ParsedBody,
  parseApplyBody,
  parseJsonPatchBody,
  parseObjectBody,
  protobufTypeOf,
} from "./body.ts";
import { negotiate, type Representation, servesMediaType, unservedMediaType } from "./negotiation.ts";
import {
  type DeleteOptions,
  type ListOptions,
  parseDeleteOptions,
  parseListOptions,
  parseWriteOptions,
  type WriteOptions,
} from "./query-options.ts";
import { objectReply, type Reply } from "./reply.ts";
import { type RequestInfo, wantsWatch } from "./request-info.ts";

const NO_OPTIONS: WriteOptions = { dryRun: false, fieldManager: "", fieldValidation: "Warn", force: false };

const SCALE = defineBuiltin({ group: "autoscaling", kind: "Scale", namespaced: true, columns: [], strategy: {} });

/** Everything one request for a resource needs. */
interface Request {
  readonly core: RegistryCore;
  readonly call: ApiCall;
  readonly info: RequestInfo;
  readonly type: ResourceType;
  readonly namespace: string;
  readonly user: UserInfo;
  readonly attributes: RequestAttributes;
}

/** Serves a request for a known type, after authorization. */
export async function handleResource(
  core: RegistryCore,
  call: ApiCall,
  info: RequestInfo,
  type: ResourceType,
  attributes: RequestAttributes,
): Promise<Reply> {
  const request: Request = {
    core,
    call,
    info,
    type,
    namespace: type.namespaced ? info.namespace : "",
    user: attributes.user,
    attributes,
  };
  if (type.deprecation !== undefined) call.warn(type.deprecation);
  if (info.subresource !== "") return handleSubresource(request);
  if (!(type.verbs as readonly string[]).includes(info.verb)) throw notSupported(request);
  switch (info.verb as Verb) {
    case "get":
      return handleGet(request);
    case "list":
      return handleList(request);
    case "watch":
      return handleWatch(request);
    case "create":
      return handleCreate(request);
    case "update":
      return handleUpdate(request, "");
    case "patch":
      return handlePatch(request, "");
    case "delete":
      return handleDelete(request);
    case "deletecollection":
      return handleDeleteCollection(request);
  }
}

/** A verb the type does not have: routed away for built-ins, refused by the handler for custom resources. */
function notSupported(request: Request): ApiError {
  return request.type.builtin ? methodNotAllowed() : methodNotSupported(groupResource(request.type), request.info.verb);
}

function presentation(request: Request): Presentation {
  const include = request.call.query.get("includeObject") ?? "";
  const representation = represent(request);
  if (include !== "" && include !== "None" && include !== "Metadata" && include !== "Object") {
    if (representation.as === "table") {
      throw badRequest(
        `Unable to convert to Table as requested: includeObject: Invalid value: ${JSON.stringify(include)}: must be 'Metadata', 'Object', 'None', or empty`,
      );
    }
  }
  return {
    representation,
    includeObject: include === "None" || include === "Object" ? include : "Metadata",
    nowMs: request.core.clock.now(),
  };
}

function represent(request: Request): Representation {
  try {
    // Reviews are answered and not kept: there is no Table of them.
    return negotiate(request.call.headers["accept"], request.type.strategy.createOnly === undefined);
  } catch (error) {
    const routed = request.type.builtin && !servesMediaType(request.call.headers["accept"] ?? "");
    throw routed ? routerRefusal(request.info.verb === "watch" ? "406 watch" : 406) : error;
  }
}

async function handleGet(request: Request): Promise<Reply> {
  const how = presentation(request);
  const { call, type, namespace, info } = request;
  const view = await getObject(request.core, type, namespace, info.name, call.query.get("resourceVersion") ?? "");
  return presentObject(type, 200, view.object, view, how);
}

async function handleList(request: Request): Promise<Reply> {
  const how = presentation(request);
  const options = parseListOptions(request.call.query, false);
  const page = await listObjects(request.core, request.type, request.namespace, ofName(request, options));
  return presentList(request.type, page, how);
}

async function handleWatch(request: Request): Promise<Reply> {
  const how = presentation(request);
  // Events follow each other without an end, which YAML cannot be.
  if (how.representation.format === "yaml") throw unservedMediaType(true);
  const { core, type } = request;
  // Below the old prefix upstream looks at the options as if they were those of a list.
  const options = parseListOptions(request.call.query, wantsWatch(request.call.query));
  const transform = presentEvents(type, how, () => core.clock.now());
  const stream = await openWatch(core, type, request.namespace, ofName(request, options), transform);
  return { status: 200, body: { type: "watch", stream } };
}

/**
 * The options of a list or watch that was authorized for one name (`/watch/…/NAME`, or a field selector that pins it): it must select
 * that object and no other, whatever else its field selector says.
 */
function ofName({ info, type }: Request, options: ListOptions): ListOptions {
  if (info.name === "") return options;
  const selector = parseFieldSelector(options.fieldSelector);
  if (selector.empty)
    return {
      ...options,
      fieldSelector: fieldSelector([{ field: "metadata.name", operator: "=", value: info.name }]).toString(),
    };
  // Fields that the kind does not know are refused first, as upstream does.
  checkFields(type, selector);
  if (selector.exact("metadata.name") !== info.name)
    throw badRequest("fieldSelector metadata.name doesn't match requested name");
  return options;
}

async function handleCreate(request: Request): Promise<Reply> {
  const how = presentation(request);
  checkMediaType(mediaTypeOf(request.call.headers["content-type"]));
  const options = parseWriteOptions(request.call.query, "CreateOptions", false);
  if (request.type.namespaced && request.namespace === "") throw notSupported(request);
  const { draft, large } = await readObject(request, options);
  const outcome = await createObject(writeRequest(request, options, "", large), draft);
  return present(request, outcome, how);
}

async function handleUpdate(request: Request, subresource: string): Promise<Reply> {
  const how = presentation(request);
  const { type, info } = request;
  const options = parseWriteOptions(request.call.query, "UpdateOptions", false);
  const { draft, copy, large } = await readObject(request, options);
  settleNamespace(type, draft.metadata, request.namespace);
  checkName(draft.metadata.name, info.name);
  const write = writeRequest(request, options, subresource, large);
  const create = type.strategy.allowCreateOnUpdate && subresource === "";
  const outcome = await updateObject(
    write,
    () => ({ draft: copy(), owned: false }),
    create ? () => createObject(write, draft) : undefined,
  );
  return present(request, outcome, how);
}

/** What is put must name the object in the path. */
function checkName(given: string | undefined, name: string): void {
  if (given === undefined || given === "")
    throw badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`);
  if (given !== name)
    throw badRequest(`the name of the object (${given}) does not match the name on the URL (${name})`);
}

async function handlePatch(request: Request, subresource: string): Promise<Reply> {
  const { type, call } = request;
  const patchType = patchTypeOf(type, mediaTypeOf(call.headers["content-type"]));
  const how = presentation(request);
  const options = parseWriteOptions(call.query, "PatchOptions", patchType === "apply");
  const body = await call.body();
  const write = writeRequest(request, options, subresource, isLarge(body));
  if (patchType === "apply") {
    const applied = await parseApplyBody(body, type.kind, request.core.clock);
    // What is applied to a part of an object does not make the object.
    if (subresource !== "") await getObject(request.core, type, request.namespace, request.info.name, "");
    if (write.pause !== undefined) await write.pause();
    return present(request, await applyObject(write, applied.value, validation(request, options, applied)), how);
  }
  const patch = parseJsonPatchBody(body, patchType === "json" ? "JSON patch" : type.kind);
  return present(request, await patchObject(write, patchType, patch.value, validation(request, options, patch)), how);
}

async function handleDelete(request: Request): Promise<Reply> {
  const how = presentation(request);
  const options = await readDeleteOptions(request);
  const write = writeRequest(request, { ...NO_OPTIONS, dryRun: options.dryRun }, "");
  return present(request, await deleteObject(write, options), how);
}

async function handleDeleteCollection(request: Request): Promise<Reply> {
  const how = presentation(request);
  if (request.type.namespaced && request.namespace === "") throw notSupported(request);
  const list = parseListOptions(request.call.query, false);
  const options = await readDeleteOptions(request);
  const write = writeRequest(request, { ...NO_OPTIONS, dryRun: options.dryRun }, "");
  return presentList(request.type, await deleteCollection(write, list, options), how);
}

async function handleSubresource(request: Request): Promise<Reply> {
  const { type, info } = request;
  const verb = info.verb as Verb;
  if (info.subresource === "status" && type.status) {
    if (verb === "get") return handleGet(request);
    if (verb === "update") return handleUpdate(request, "status");
    if (verb === "patch") return handlePatch(request, "status");
    throw notSupported(request);
  }
  if (info.subresource === "scale" && type.scale !== undefined) return handleScale(request, type.scale);
  const other = type.subresources.find((s) => s.name === info.subresource);
  if (other === undefined) throw type.builtin ? notServed() : notFound(groupResource(type), info.name);
  if (!other.verbs.includes(verb)) throw notSupported(request);
  return handleOther(request, other, verb);
}

async function handleScale(request: Request, scale: NonNullable<ResourceType["scale"]>): Promise<Reply> {
  const { core, call, type, namespace, info } = request;
  if (!["get", "update", "patch"].includes(info.verb)) throw notSupported(request);
  if (info.verb !== "patch") represent(request);
  if (info.verb === "get") {
    const view = await getObject(core, type, namespace, info.name, call.query.get("resourceVersion") ?? "");
    return objectReply(200, scaleOf(scale, view.object));
  }
  if (info.verb === "update") {
    const options = parseWriteOptions(call.query, "UpdateOptions", false);
    const mediaType = mediaTypeOf(call.headers["content-type"]);
    const body = await call.body();
    checkScaleKind(protobufTypeOf(body, mediaType) ?? {});
    const parsed = await parseObjectBody(body, mediaType, "Scale", true, core.clock);
    const { value } = parsed;
    checkScale(value, info.name);
    // For its complaints about unknown and repeated fields.
    decodeObject(SCALE, structuredClone(value), validation(request, options, parsed));
    const outcome = await updateScale(writeRequest(request, options, "scale"), scale, () => value);
    return objectReply(outcome.status, outcome.object);
  }
  const patchType = patchTypeOf(type, mediaTypeOf(call.headers["content-type"]));
  represent(request);
  const options = parseWriteOptions(call.query, "PatchOptions", patchType === "apply");
  const write = writeRequest(request, options, "scale");
  if (patchType === "apply") {
    const applied = await parseApplyBody(await call.body(), "Scale", core.clock);
    const given = isObject(applied.value) ? applied.value : {};
    checkAppliedType(given, "autoscaling/v1", "Scale");
    const how = validation(request, options, applied);
    decodeObject(SCALE, structuredClone(given), how);
    const outcome = await applyScale(write, scale, given, { ...how, mode: "Ignore" });
    return objectReply(outcome.status, outcome.object);
  }
  const patch = parseJsonPatchBody(await call.body(), "Scale");
  const how = validation(request, options, patch);
  const outcome = await updateScale(
    write,
    scale,
    (current) =>
      patchedDraft({ type: SCALE, subresource: "" }, applyOf(type, patchType, current, patch.value), current, how)
        .draft,
  );
  return objectReply(outcome.status, outcome.object);
}

/** A Scale that is put must be one, and of the object in the path. */
function checkScale(value: unknown, name: string): void {
  const { metadata, ...type } = isObject(value) ? value : {};
  checkScaleKind(type);
  checkName(isObject(metadata) ? textOf(metadata["name"]) : undefined, name);
}

function checkScaleKind({ apiVersion, kind }: { apiVersion?: unknown; kind?: unknown }): void {
  if ((kind !== undefined && kind !== "Scale") || (apiVersion !== undefined && apiVersion !== "autoscaling/v1"))
    throw badRequest("no kind is registered for the type v1.Scale");
}

/** A subresource without a handler changes the object itself: with the caller, the options and the preconditions of any update. */
async function handleOther(request: Request, subresource: SubresourceType, verb: Verb): Promise<Reply> {
  const { handle, name } = subresource;
  if (handle !== undefined) return handlePosted(request, subresource, handle);
  if (verb === "get") return handleGet(request);
  if (verb === "update") return handleUpdate(request, name);
  if (verb === "patch") return handlePatch(request, name);
  throw notSupported(request);
}

/** A POST of a subresource with a kind of its own (TokenRequest, Eviction), admitted as the caller's CREATE. */
async function handlePosted(
  request: Request,
  subresource: SubresourceType,
  handle: SubresourceHandler,
): Promise<Reply> {
  const { call, core, user, namespace, info } = request;
  represent(request);
  checkMediaType(mediaTypeOf(call.headers["content-type"]));
  const options = parseWriteOptions(call.query, "CreateOptions", false);
  const { draft } = await readObject({ ...request, type: bodyType(request.type, subresource) }, options);
  const write = writeRequest(request, options, subresource.name);
  const admission = admissionFor(write, "CREATE", draft, undefined, createOptions(write));
  await runMutating(admission);
  await runValidating(admission);
  const body = admission.request.object ?? draft;
  const { dryRun } = options;
  const nowMs = core.clock.now();
  const result = await handle({ user, namespace, name: info.name, body, dryRun, nowMs, api: core.internal() });
  return objectReply(result.status, result.object);
}

function writeRequest(request: Request, options: WriteOptions, subresource: string, large = false): WriteRequest {
  const { core, type, namespace, info, user, attributes, call } = request;
  return {
    core,
    type,
    namespace,
    name: info.verb === "create" || info.verb === "deletecollection" ? "" : info.name,
    subresource,
    user,
    attributes,
    options,
    manager: options.fieldManager === "" ? managerOf(call.headers["user-agent"]) : options.fieldManager,
    warn: call.warn,
    ...(large ? { pause: yieldToEventLoop } : {}),
  };
}

const managers = new Map<string, string>();
const MAX_MANAGERS = 1000;

/** Without a fieldManager parameter the program's name in the user agent owns the fields. */
function managerOf(userAgent: string | undefined): string {
  if (userAgent === undefined) return "unknown";
  let manager = managers.get(userAgent);
  if (manager === undefined) {
    const name = (userAgent.split("/")[0] ?? "").replace(/[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu, "").slice(0, 128);
    manager = name === "" ? "unknown" : name;
    if (managers.size >= MAX_MANAGERS) managers.clear();
    managers.set(userAgent, manager);
  }
  return manager;
}

function validation(request: Request, options: WriteOptions, { duplicates, places }: ParsedBody): FieldValidation {
  return { mode: options.fieldValidation, duplicates, places, warn: request.call.warn };
}

/** The decoded body, and a way to get it again untouched when a write has to be repeated. */
async function readObject(
  request: Request,
  options: WriteOptions,
): Promise<{ draft: Unstructured; copy: () => Unstructured; large: boolean }> {
  const { call, type } = request;
  const mediaType = mediaTypeOf(call.headers["content-type"]);
  const body = await call.body();
  const said = isCustom(type) ? undefined : protobufTypeOf(body, mediaType);
  if (said !== undefined) checkKind(type, said);
  const parsed = await parseObjectBody(body, mediaType, type.kind, !isCustom(type), request.core.clock);
  const large = isLarge(body);
  if (large) await yieldToEventLoop();
  const draft = decodeObject(type, parsed.value, validation(request, options, parsed));
  let used = false;
  const copy = (): Unstructured => {
    if (!used) {
      used = true;
      return draft;
    }
    return structuredClone(draft);
  };
  return { draft, copy, large };
}

async function readDeleteOptions(request: Request): Promise<DeleteOptions> {
  const { call } = request;
  const body = await call.body();
  if (body.type === "none" || (body.type === "bytes" && body.bytes.length === 0)) {
    return parseDeleteOptions(call.query, undefined);
  }
  const mediaType = mediaTypeOf(call.headers["content-type"]);
  const { value } = await parseObjectBody(body, mediaType, "DeleteOptions", true, request.core.clock);
  if (!isObject(value)) throw badRequest("the body is not DeleteOptions");
  const { kind } = value;
  for (const field of ["apiVersion", "kind"])
    if (typeof (value[field] ?? "") !== "string")
      throw badRequest(`couldn't get version/kind: ${field} of DeleteOptions is no text`);
  if (kind !== undefined && kind !== "DeleteOptions") {
    const version = textOf(value["apiVersion"]);
    throw badRequest(`no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(version)}`);
  }
  return parseDeleteOptions(call.query, value);
}

function present(request: Request, outcome: WriteOutcome, how: Presentation): Reply {
  return presentObject(request.type, outcome.status, outcome.object, outcome.view, how);
}
