import {
  badRequest,
  conflict,
  type FieldError,
  formatTime,
  goQuote,
  invalid,
  invalidValue,
  isObject,
  notFound,
  type Unstructured,
} from "@capstan/apimachinery";
import { at, num, text, texts } from "../builtin/read.ts";
import type { InternalApi, SubresourceHandler } from "../types.ts";
import { Resources } from "./resources.ts";
import type { BoundObject, ServiceAccountTokens } from "./service-account-tokens.ts";

const API_VERSION = "authentication.k8s.io/v1";
const KIND = { group: "authentication.k8s.io", kind: "TokenRequest" };
const DEFAULT_SECONDS = 3600;
const MIN_SECONDS = 600;
const MAX_SECONDS = 2 ** 32;

/** Handles POST …/serviceaccounts/NAME/token. */
export function tokenRequestHandler(tokens: () => ServiceAccountTokens, nowMs: () => number): SubresourceHandler {
  return async ({ namespace, name, body, api }) => {
    const account = api.get(Resources.serviceAccounts, namespace, name);
    if (account === undefined) throw notFound({ group: "", resource: "serviceaccounts" }, name);
    const spec = isObject(body["spec"]) ? body["spec"] : {};
    const asked = body.metadata.name;
    if (asked !== undefined && asked !== "" && asked !== name)
      throw invalid(KIND, name, [
        invalidValue("metadata.name", asked, "must match the service account name if specified"),
      ]);
    const askedNamespace = body.metadata.namespace;
    if (askedNamespace !== undefined && askedNamespace !== "" && askedNamespace !== namespace)
      throw invalid(KIND, name, [
        invalidValue("metadata.namespace", askedNamespace, "must match the service account namespace if specified"),
      ]);
    const askedUid = body.metadata.uid;
    if (askedUid !== undefined && askedUid !== "" && askedUid !== account.metadata.uid)
      throw conflict(
        { group: KIND.group, resource: KIND.kind },
        name,
        `the UID in the token request (${askedUid}) does not match the UID of the service account (${account.metadata.uid ?? ""})`,
      );
    const expirationSeconds =
      spec["expirationSeconds"] === undefined ? DEFAULT_SECONDS : num(spec["expirationSeconds"]);
    const errors = durationErrors(expirationSeconds);
    if (errors.length > 0) throw invalid(KIND, "", errors);
    const boundObject = bind(api, namespace, name, spec["boundObjectRef"]);
    const audiences = texts(spec["audiences"]);
    const { token, expirationMs } = await tokens().issue({
      serviceAccount: account,
      audiences,
      expirationSeconds,
      boundObject,
    });
    const object: Unstructured = {
      kind: "TokenRequest",
      apiVersion: API_VERSION,
      metadata: {
        name,
        namespace,
        uid: account.metadata.uid,
        creationTimestamp: formatTime(nowMs()),
      },
      spec: {
        audiences: audiences.length === 0 ? tokens().audiences : audiences,
        expirationSeconds,
        boundObjectRef: spec["boundObjectRef"] ?? null,
      },
      status: { token, expirationTimestamp: formatTime(expirationMs) },
    };
    return { status: 201, object };
  };
}

function durationErrors(seconds: number): FieldError[] {
  const field = "spec.expirationSeconds";
  if (seconds < MIN_SECONDS) return [invalidValue(field, seconds, "may not specify a duration less than 10 minutes")];
  if (seconds > MAX_SECONDS)
    return [invalidValue(field, seconds, "may not specify a duration larger than 2^32 seconds")];
  return [];
}

const BINDABLE = { Pod: Resources.pods, Secret: Resources.secrets, Node: Resources.nodes } as const;

function bind(api: InternalApi, namespace: string, account: string, ref: unknown): BoundObject | undefined {
  if (!isObject(ref)) return undefined;
  const kind = text(ref["kind"]);
  const apiVersion = text(ref["apiVersion"]);
  if (apiVersion !== "v1" || (kind !== "Pod" && kind !== "Secret" && kind !== "Node")) {
    const [group, version] = apiVersion.includes("/") ? apiVersion.split("/") : ["", apiVersion];
    throw badRequest(`cannot bind token to object of type ${group}/${version}, Kind=${kind}`);
  }
  const name = text(ref["name"]);
  const resource = BINDABLE[kind];
  const object = api.get(resource, kind === "Node" ? "" : namespace, name);
  if (object === undefined) throw notFound({ group: "", resource: resource.plural }, name);
  if (kind === "Pod" && (text(at(object, "spec", "serviceAccountName")) || "default") !== account)
    throw badRequest(
      `cannot bind token for serviceaccount ${goQuote(account)} to pod running with different serviceaccount name.`,
    );
  const uid = object.metadata.uid ?? "";
  const askedUid = text(at(ref, "uid"));
  if (askedUid !== "" && askedUid !== uid)
    throw conflict(
      { group: "", resource: resource.plural },
      name,
      `the UID in the bound object reference (${askedUid}) does not match the UID in record. The object might have been deleted and then recreated`,
    );
  return { kind, name, uid };
}
