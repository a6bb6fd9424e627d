import { isObject, type Unstructured } from "@capstan/apimachinery";
import type { RequestAttributes } from "../types.ts";

const HIDDEN = "<hidden>";
const SECRET_NAME = /token|password|passwd|secret$|kubeconfig|private_?key|credential/i;
const SECRET_VALUE = /-----BEGIN [A-Z ]*PRIVATE KEY-----|client-key-data:|^eyJ[\w-]+\.eyJ[\w-]+\./;
const CONTENT_FIELDS = new Set(["data", "stringData", "binaryData"]);

/** Requests whose object consists of secrets: nothing of it may be recorded, whatever the policy says. */
export function isSecretRequest(request: RequestAttributes): boolean {
  return (
    (request.group === "" && request.resource === "serviceaccounts" && request.subresource === "token") ||
    (request.group === "authentication.k8s.io" && request.resource === "tokenreviews")
  );
}

/**
 * A copy of an object for the log: contents of Secrets and ConfigMaps, values that look like keys, tokens or kubeconfigs, and
 * annotations that repeat the object are replaced.
 */
export function redact(object: Unstructured, request: RequestAttributes): object {
  const { managedFields: _ownership, ...metadata } = object.metadata;
  const copy: Record<string, unknown> = { ...object, metadata };
  if (request.group === "" && (request.resource === "secrets" || request.resource === "configmaps"))
    for (const field of CONTENT_FIELDS) if (isObject(copy[field])) copy[field] = hideAll(copy[field]);
  return hideSecrets(copy) as object;
}

const hideAll = (content: object): object => Object.fromEntries(Object.keys(content).map((key) => [key, HIDDEN]));

function hideSecrets(value: unknown, name = ""): unknown {
  if (typeof value === "string") {
    const repeats = name === "kubectl.kubernetes.io/last-applied-configuration";
    return value !== "" && (repeats || SECRET_NAME.test(name) || SECRET_VALUE.test(value)) ? HIDDEN : value;
  }
  if (Array.isArray(value)) return value.map((item) => hideSecrets(item, name));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, hideSecrets(child, key)]));
}
