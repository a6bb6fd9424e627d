import type { RequestAttributes } from "../types.ts";

/** How much of a request is recorded: nothing, who did what, or also the object that was sent. */
export type AuditLevel = "None" | "Metadata" | "Request";

/** One rule of a policy, with the fields of audit.k8s.io/v1; the first that matches decides. Absent parts match everything. */
export interface AuditRule {
  readonly level: AuditLevel;
  readonly users?: readonly string[];
  readonly userGroups?: readonly string[];
  readonly verbs?: readonly string[];
  readonly resources?: readonly {
    readonly group: string;
    readonly resources?: readonly string[];
    readonly resourceNames?: readonly string[];
  }[];
  readonly namespaces?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
}

/** Rules in order. Requests that none matches are not recorded. */
export interface AuditPolicy {
  readonly rules: readonly AuditRule[];
}

/** Every change, and every read of a Secret or a token; no other reads, no probes, no access reviews. */
export const DEFAULT_AUDIT_POLICY: AuditPolicy = {
  rules: [
    { level: "None", nonResourceURLs: ["*"] },
    { level: "None", resources: [{ group: "coordination.k8s.io", resources: ["leases"] }] },
    { level: "None", resources: [{ group: "", resources: ["events"] }, { group: "events.k8s.io" }] },
    { level: "Metadata", resources: [{ group: "", resources: ["secrets", "serviceaccounts/token"] }] },
    { level: "None", verbs: ["get", "list", "watch"] },
    { level: "None", resources: [{ group: "authorization.k8s.io" }, { group: "authentication.k8s.io" }] },
    { level: "Metadata" },
  ],
};

/** The level for a request. */
export function auditLevel(policy: AuditPolicy, request: RequestAttributes): AuditLevel {
  return policy.rules.find((rule) => matches(rule, request))?.level ?? "None";
}

function matches(rule: AuditRule, request: RequestAttributes): boolean {
  const { user } = request;
  if (rule.users !== undefined && !rule.users.includes(user.name)) return false;
  if (rule.userGroups !== undefined && !rule.userGroups.some((group) => user.groups.includes(group))) return false;
  if (rule.verbs !== undefined && !rule.verbs.includes(request.verb)) return false;
  if (rule.resources === undefined && rule.nonResourceURLs === undefined && rule.namespaces === undefined) return true;
  if (!request.isResource) return rule.nonResourceURLs?.some((url) => urlMatches(url, request.path)) ?? false;
  if (rule.nonResourceURLs !== undefined) return false;
  if (rule.namespaces !== undefined && !rule.namespaces.includes(request.namespace)) return false;
  return rule.resources === undefined || rule.resources.some((resource) => resourceMatches(resource, request));
}

function urlMatches(pattern: string, path: string): boolean {
  return pattern.endsWith("*") ? path.startsWith(pattern.slice(0, -1)) : pattern === path;
}

type ResourcePattern = NonNullable<AuditRule["resources"]>[number];

function resourceMatches(pattern: ResourcePattern, request: RequestAttributes): boolean {
  if (pattern.group !== request.group) return false;
  const { resource, subresource } = request;
  const whole = subresource === "" ? resource : `${resource}/${subresource}`;
  const named = (pattern.resources ?? []).some(
    (wanted) => wanted === whole || wanted === "*" || wanted === `${resource}/*` || wanted === `*/${subresource}`,
  );
  if (!named && pattern.resources !== undefined && pattern.resources.length > 0) return false;
  const names = pattern.resourceNames ?? [];
  return names.length === 0 || names.includes(request.name);
}
