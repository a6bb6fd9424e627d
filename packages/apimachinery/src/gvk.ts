import { badRequest } from "./errors.ts";
import type { GroupVersionKind } from "./object.ts";

/** Splits an apiVersion; `v1` is the core group. More than one slash is refused, as upstream does. */
export function parseGroupVersion(apiVersion: string): { group: string; version: string } {
  if (typeof apiVersion !== "string") throw badRequest('apiVersion: must be a string such as "apps/v1"');
  const slash = apiVersion.indexOf("/");
  if (slash < 0) return { group: "", version: apiVersion };
  if (apiVersion.indexOf("/", slash + 1) >= 0) throw badRequest(`unexpected GroupVersion string: ${apiVersion}`);
  return { group: apiVersion.slice(0, slash), version: apiVersion.slice(slash + 1) };
}

/** The apiVersion of a group and version: `apps/v1`, or `v1` in the core group. */
export function groupVersion(group: string, version: string): string {
  return group === "" ? version : `${group}/${version}`;
}

/** The group, version and kind an object says it has. */
export function gvkOf(object: { apiVersion: string; kind: string }): GroupVersionKind {
  return { ...parseGroupVersion(object.apiVersion), kind: object.kind };
}

const KUBE_VERSION = /^v(\d+)(?:(alpha|beta)(\d+))?$/;

/** Orders API versions, most preferred first: v2, v1, v1beta2, v1beta1, v1alpha1, then other names alphabetically. */
export function compareApiVersions(a: string, b: string): number {
  if (a === b) return 0;
  const ma = KUBE_VERSION.exec(a);
  const mb = KUBE_VERSION.exec(b);
  if (ma === null || mb === null) {
    if (ma !== null) return -1;
    if (mb !== null) return 1;
    return a < b ? -1 : 1;
  }
  return stability(mb) - stability(ma) || Number(mb[1]) - Number(ma[1]) || Number(mb[3] ?? 0) - Number(ma[3] ?? 0);
}

function stability(match: RegExpExecArray): number {
  return match[2] === undefined ? 2 : match[2] === "beta" ? 1 : 0;
}
