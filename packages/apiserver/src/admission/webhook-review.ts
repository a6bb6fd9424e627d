import { ApiError, goKind, goQuote, isObject, type Status, type UserInfo } from "@capstan/apimachinery";
import { at, text, texts } from "../builtin/read.ts";
import type { AdmissionRequest, ResourceType } from "../types.ts";

const API_VERSION = "admission.k8s.io/v1";

/** The `request` part of an AdmissionReview; also what match conditions see as `request`. */
export function reviewRequest(
  request: AdmissionRequest,
  shown: ResourceType,
  uid: string,
  objects: { object: unknown; oldObject: unknown },
): Record<string, unknown> {
  const { attributes, type } = request;
  const { subresource } = attributes;
  const name = attributes.name || request.object?.metadata.name || "";
  // Upstream counts a Namespace as being in itself.
  const namespace = attributes.namespace || (type.group === "" && type.plural === "namespaces" ? name : "");
  return {
    uid,
    kind: kindOf(shown, subresource),
    resource: { group: shown.group, version: shown.version, resource: shown.plural },
    ...(subresource === "" ? {} : { subResource: subresource }),
    requestKind: kindOf(type, subresource),
    requestResource: { group: type.group, version: type.version, resource: type.plural },
    ...(subresource === "" ? {} : { requestSubResource: subresource }),
    ...(name === "" ? {} : { name }),
    ...(namespace === "" ? {} : { namespace }),
    operation: request.operation,
    userInfo: userInfo(attributes.user),
    object: objects.object ?? null,
    oldObject: objects.oldObject ?? null,
    dryRun: request.dryRun,
    options: request.options,
  };
}

function kindOf(type: ResourceType, subresource: string): object {
  const own = { group: type.group, version: type.version, kind: type.kind };
  if (subresource === "scale" && type.scale !== undefined)
    return { group: "autoscaling", version: "v1", kind: "Scale" };
  const sub = type.subresources.find((s) => s.name === subresource);
  return sub === undefined
    ? own
    : { group: sub.group ?? type.group, version: sub.version ?? type.version, kind: sub.kind };
}

function userInfo(user: UserInfo): object {
  return {
    username: user.name,
    ...(user.uid === undefined || user.uid === "" ? {} : { uid: user.uid }),
    groups: user.groups,
    extra: user.extra,
  };
}

/** The whole document that is sent. */
export function admissionReview(request: Record<string, unknown>): object {
  return { kind: "AdmissionReview", apiVersion: API_VERSION, request };
}

/** A webhook's answer, checked. */
export interface ReviewAnswer {
  readonly allowed: boolean;
  readonly status: Record<string, unknown> | undefined;
  readonly patch: unknown;
  readonly warnings: readonly string[];
}

/** An invalid response, with the messages of apiserver's VerifyAdmissionResponse. */
export class InvalidAnswer extends Error {
  constructor(detail: string, prefix = "received invalid webhook response: ") {
    super(`${prefix}${detail}`);
  }
}

/** Reads and checks an answer; throws InvalidAnswer. */
export function readAnswer(body: unknown, uid: string, mutating: boolean): ReviewAnswer {
  const response = at(body, "response");
  if (!isObject(response)) throw new InvalidAnswer("webhook response was absent");
  if (text(response["uid"]) !== uid)
    throw new InvalidAnswer(`expected response.uid=${goQuote(uid)}, got ${goQuote(text(response["uid"]))}`);
  const [group, version] = text(at(body, "apiVersion")).split("/");
  const gvk = `${group ?? ""}/${version ?? ""}, Kind=${text(at(body, "kind"))}`;
  const expected = `${API_VERSION}, Kind=AdmissionReview`;
  if (gvk !== expected) throw new InvalidAnswer(`expected webhook response of ${expected}, got ${gvk}`);
  return {
    allowed: response["allowed"] === true,
    status: isObject(response["status"]) ? response["status"] : undefined,
    patch: readPatch(response, mutating),
    warnings: texts(response["warnings"]),
  };
}

function readPatch(response: Record<string, unknown>, mutating: boolean): unknown {
  const patch = text(response["patch"]);
  const { patchType } = response;
  const typed = patchType !== undefined && patchType !== null;
  if (!mutating) {
    if (patch !== "") throw new InvalidAnswer("validating webhook may not return response.patch");
    if (typed) throw new InvalidAnswer("validating webhook may not return response.patchType");
    return undefined;
  }
  if (patch === "") {
    if (typed) throw new InvalidAnswer("webhook returned response.patchType but not response.patch");
    return undefined;
  }
  if (!typed) throw new InvalidAnswer("webhook returned response.patch but not response.patchType");
  const operations = parsePatch(patch);
  if (!Array.isArray(operations)) {
    const cause = `json: cannot unmarshal ${goKind(operations)} into Go value of type jsonpatch.Patch`;
    throw new InvalidAnswer(cause, UNDECODABLE);
  }
  if (operations.length === 0) return undefined;
  if (patchType !== "JSONPatch") throw new InvalidAnswer(`unsupported patch type ${goQuote(text(patchType))}`, "");
  return operations;
}

const UNDECODABLE = "received undecodable patch in webhook response: ";

function parsePatch(patch: string): unknown {
  try {
    return JSON.parse(Buffer.from(patch, "base64").toString("utf8"));
  } catch (error) {
    const cause = error instanceof Error ? error.message : "no JSON";
    throw new InvalidAnswer(cause, UNDECODABLE);
  }
}

/** The error a client gets when a webhook denies the request (apiserver's ToStatusErr). */
export function deniedError(webhook: string, status: Record<string, unknown> | undefined): ApiError {
  const denied = `admission webhook ${goQuote(webhook)} denied the request`;
  const reason = text(status?.["reason"]);
  const explanation = text(status?.["message"]) || reason;
  const code = typeof status?.["code"] === "number" && status["code"] >= 400 ? status["code"] : 400;
  const answer: Status = {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message: explanation === "" ? `${denied} without explanation` : `${denied}: ${explanation}`,
    ...(reason === "" ? {} : { reason }),
    ...(isObject(status?.["details"]) ? { details: status["details"] } : {}),
    code,
  };
  return new ApiError(answer);
}
