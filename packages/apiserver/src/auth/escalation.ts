import {
  deepEqual,
  forbidden,
  goQuote,
  isObject,
  notFound,
  type Unstructured,
  type UserInfo,
} from "@capstan/apimachinery";
import { at, text } from "../builtin/read.ts";
import type { AdmissionPlugin, AdmissionRequest, Authorizer } from "../types.ts";
import { goStrings, missingRules, type PolicyRule, rulesOf, ruleText } from "./policy-rule.ts";
import { aggregate, type RbacAuthorizer } from "./rbac-authorizer.ts";
import { RBAC_GROUP } from "./resources.ts";
import { Groups } from "./users.ts";

const EVERYTHING: readonly PolicyRule[] = [
  { verbs: ["*"], apiGroups: ["*"], resources: ["*"], resourceNames: [], nonResourceURLs: [] },
  { verbs: ["*"], apiGroups: [], resources: [], resourceNames: [], nonResourceURLs: ["*"] },
];
const ROLES = new Set(["roles", "clusterroles"]);
const BINDINGS = new Set(["rolebindings", "clusterrolebindings"]);

/** Rejects roles and bindings that grant more than their author holds, unless allowed to `escalate` or `bind` (rbac policybased storage). */
export function rbacAdmission(rbac: RbacAuthorizer): AdmissionPlugin {
  return {
    name: "RBACEscalation",
    handles: (type, operation) =>
      type.group === RBAC_GROUP &&
      (operation === "CREATE" || operation === "UPDATE") &&
      (ROLES.has(type.plural) || BINDINGS.has(type.plural)),
    validate(request) {
      const { object, attributes } = request;
      if (object === undefined || attributes.user.groups.includes(Groups.masters)) return;
      if (request.oldObject !== undefined && onlyCollectionFieldsChanged(object, request.oldObject)) return;
      if (ROLES.has(attributes.resource)) checkRole(rbac, request, object);
      else checkBinding(rbac, request, object);
    },
  };
}

function checkRole(rbac: RbacAuthorizer, request: AdmissionRequest, role: Unstructured): void {
  const { attributes } = request;
  if (may(rbac, request, "escalate", attributes.resource, role.metadata.name ?? "")) return;
  const gr = { group: RBAC_GROUP, resource: attributes.resource };
  const problem = escalation(rbac, attributes.user, attributes.namespace, rulesOf(role["rules"]));
  if (problem !== undefined) throw forbidden(gr, role.metadata.name ?? "", problem);
  if (!hasAggregation(role) && !hasAggregation(request.oldObject)) return;
  if (escalation(rbac, attributes.user, attributes.namespace, EVERYTHING) !== undefined)
    throw forbidden(gr, role.metadata.name ?? "", "must have cluster-admin privileges to use the aggregationRule");
}

function checkBinding(rbac: RbacAuthorizer, request: AdmissionRequest, binding: Unstructured): void {
  const { attributes } = request;
  const kind = text(at(binding, "roleRef", "kind"));
  const name = text(at(binding, "roleRef", "name"));
  if (may(rbac, request, "bind", kind === "ClusterRole" ? "clusterroles" : "roles", name)) return;
  const gr = { group: RBAC_GROUP, resource: attributes.resource };
  const rules = rbac.roleRules(kind, attributes.namespace, name);
  if (rules === undefined) throw notFound(gr, name);
  const problem = escalation(rbac, attributes.user, attributes.namespace, rules);
  if (problem !== undefined) throw forbidden(gr, binding.metadata.name ?? "", problem);
}

function may(authorizer: Authorizer, request: AdmissionRequest, verb: string, resource: string, name: string): boolean {
  const { user, namespace, path } = request.attributes;
  const question = { user, verb, isResource: true, path, group: RBAC_GROUP, version: "v1", subresource: "", namespace };
  return authorizer.authorize({ ...question, resource, name }).allowed;
}

/** Why the user may not grant `rules`, or undefined when the user holds them all. */
function escalation(
  rbac: RbacAuthorizer,
  user: UserInfo,
  namespace: string,
  rules: readonly PolicyRule[],
): string | undefined {
  const held = rbac.appliedRules(user, namespace);
  const missing = missingRules(held.rules, rules);
  if (missing.length === 0) return undefined;
  const lines = missing.map(ruleText).sort();
  const who = `user ${goQuote(user.name)} (groups=${goStrings(user.groups)})`;
  const problems = held.problems.length === 0 ? "" : `; resolution errors: ${resolutionErrors(held.problems)}`;
  return `${who} is attempting to grant RBAC permissions not currently held:\n${lines.join("\n")}${problems}`;
}

// Upstream prints the list of errors itself (%v of a slice), so even a single one stands in brackets.
function resolutionErrors(problems: readonly string[]): string {
  return problems.length === 1 ? `[${problems[0]}]` : `[${aggregate(problems).slice(1, -1).replaceAll(", ", " ")}]`;
}

const hasAggregation = (role: Unstructured | undefined): boolean =>
  isObject(role?.["aggregationRule"]) && Object.keys(role["aggregationRule"]).length > 0;

/** The garbage collector may change owner references and finalizers of roles it could not write itself. */
function onlyCollectionFieldsChanged(object: Unstructured, old: Unstructured): boolean {
  const without = (o: Unstructured): object => ({
    ...o,
    metadata: { ...o.metadata, ownerReferences: null, finalizers: null, managedFields: null },
  });
  return !deepEqual(object, old) && deepEqual(without(object), without(old));
}
