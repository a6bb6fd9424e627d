import {
  ApiError,
  deepCopy,
  deepEqual,
  type GroupVersionKind,
  isObject,
  type Status,
  type Unstructured,
} from "@capstan/apimachinery";
import { type KindAdmissionOptions, kindAdmissionPlugins, type ServedKind } from "../admission/plugins.ts";

/** admission.k8s.io/v1 AdmissionReview as the answer to a request. */
export interface AdmissionReviewResponse {
  apiVersion: "admission.k8s.io/v1";
  kind: "AdmissionReview";
  response: {
    uid: string;
    allowed: boolean;
    status?: Partial<Status>;
    patchType?: "JSONPatch";
    patch?: string;
    warnings?: string[];
  };
}

/** Which webhook was called. */
export type AdmissionStep = "mutate" | "validate";

/** Answers admission webhooks for kinds: a pure function of the review, but for what `options.lookup` reads. */
export function admissionReviewer(
  kinds: readonly ServedKind[],
  options: KindAdmissionOptions & {
    /** Called when a rule throws; the client only learns that it did. */
    report?: ((error: unknown) => void) | undefined;
  } = {},
): (step: AdmissionStep, review: unknown) => Promise<AdmissionReviewResponse> {
  const plugins = kindAdmissionPlugins(kinds, options);
  return async (step, review) => {
    const request = await wholeRequest(requestOf(review), kinds, options);
    const { uid, operation, kind, requestKind, object, oldObject, dryRun } = request;
    const plugin = plugins.find((p) => p.handles(kind, operation, request.subResource));
    if (plugin === undefined) return answer({ uid, allowed: true });
    const warnings: string[] = [];
    const warn = (text: string): number => warnings.push(text);
    const changed = { operation, type: requestKind, object: deepCopy(object), oldObject, dryRun, warn };
    try {
      await (step === "validate" ? plugin.validate(changed) : plugin.mutate(changed));
    } catch (error) {
      if (!(error instanceof ApiError)) options.report?.(error);
      return answer({ uid, allowed: false, status: statusOf(error) });
    }
    const patch = object === undefined || changed.object === undefined ? [] : patchOf(object, changed.object);
    if (patch.length === 0) return answer({ uid, allowed: true, ...(warnings.length > 0 ? { warnings } : {}) });
    const encoded = Buffer.from(JSON.stringify(patch)).toString("base64");
    return answer({ uid, allowed: true, patchType: "JSONPatch", patch: encoded });
  };
}

/** A Scale says only how many replicas there should be: the rules see the object it is of, with that number. */
async function wholeRequest(
  request: ReviewRequest,
  kinds: readonly ServedKind[],
  { lookup }: KindAdmissionOptions,
): Promise<ReviewRequest> {
  const { resource, subResource, object: scale } = request;
  const served = kinds.find(({ group, plural }) => group === resource.group && plural === resource.resource);
  if (subResource !== "scale" || served === undefined || lookup === undefined) return request;
  const { namespace = "", name = "" } = scale?.metadata ?? {};
  const { group, version, kind, plural } = served;
  const found = await lookup.get({ group, version, kind, plural, namespaced: true }, namespace, name);
  if (found === undefined) return request;
  const { replicas } = (scale?.["spec"] ?? {}) as { replicas?: number };
  const object = deepCopy(found);
  object["spec"] = { ...(object["spec"] as object), replicas: replicas ?? 0 };
  const type = { group, version, kind };
  return { ...request, kind: type, requestKind: type, object, oldObject: found };
}

function answer(response: AdmissionReviewResponse["response"]): AdmissionReviewResponse {
  return { apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", response };
}

interface ReviewRequest {
  uid: string;
  operation: string;
  subResource: string;
  resource: { group: string; resource: string };
  /** What the objects are. */
  kind: GroupVersionKind;
  /** What the client spoke. */
  requestKind: GroupVersionKind;
  object: Unstructured | undefined;
  oldObject: Unstructured | undefined;
  /** The request changes nothing. */
  dryRun: boolean;
}

function requestOf(review: unknown): ReviewRequest {
  const request = isObject(review) ? review["request"] : undefined;
  const kind = isObject(request) ? request["kind"] : undefined;
  if (!isObject(request) || !isObject(kind))
    throw new TypeError("body is not an AdmissionReview: it has no request.kind");
  const text = (value: unknown): string => (typeof value === "string" ? value : "");
  const named = (value: Record<string, unknown>): GroupVersionKind => ({
    group: text(value["group"]),
    version: text(value["version"]),
    kind: text(value["kind"]),
  });
  const requestKind = request["requestKind"];
  const resource = isObject(request["resource"]) ? request["resource"] : {};
  return {
    uid: text(request["uid"]),
    operation: text(request["operation"]),
    subResource: text(request["subResource"]),
    resource: { group: text(resource["group"]), resource: text(resource["resource"]) },
    kind: named(kind),
    requestKind: named(isObject(requestKind) ? requestKind : kind),
    object: objectOf(request["object"]),
    oldObject: objectOf(request["oldObject"]),
    dryRun: request["dryRun"] === true,
  };
}

function objectOf(value: unknown): Unstructured | undefined {
  return isObject(value) && isObject(value["metadata"]) && typeof value["apiVersion"] === "string"
    ? (value as unknown as Unstructured)
    : undefined;
}

function statusOf(error: unknown): Partial<Status> {
  if (error instanceof ApiError) return error.status;
  return { status: "Failure", code: 500, message: "the rules of this kind could not be checked" };
}

interface Operation {
  op: "add" | "replace" | "remove";
  path: string;
  value?: unknown;
}

/** Whole parts of the object that changed: admission of our kinds touches spec, labels and annotations only. */
function patchOf(before: Unstructured, after: Unstructured): Operation[] {
  const parts = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter((key) => key !== "metadata");
  return [
    ...parts.flatMap((key) => change(`/${key}`, before[key], after[key])),
    ...change("/metadata/labels", before.metadata.labels, after.metadata.labels),
    ...change("/metadata/annotations", before.metadata.annotations, after.metadata.annotations),
  ];
}

function change(path: string, before: unknown, after: unknown): Operation[] {
  if (deepEqual(before, after)) return [];
  if (after === undefined) return [{ op: "remove", path }];
  return [{ op: before === undefined ? "add" : "replace", path, value: after }];
}
