import { type ApiError, forbidden, goQuote, type UserInfo } from "@capstan/apimachinery";
import type { Authorizer, InternalApi, RequestAttributes, ResourceRule } from "../types.ts";
import { type PolicyRule, ruleAllows } from "./policy-rule.ts";
import { RbacIndex } from "./rbac-index.ts";
import { Groups } from "./users.ts";

/** The RBAC authorizer with what escalation checks need beyond yes and no. */
export interface RbacAuthorizer extends Authorizer {
  /** All rules that apply to a user in a namespace ("" = cluster), and why some could not be found. */
  appliedRules(user: UserInfo, namespace: string): { rules: PolicyRule[]; problems: string[] };
  /** The rules of a role, or undefined when there is none. */
  roleRules(kind: string, namespace: string, name: string): readonly PolicyRule[] | undefined;
  close(): void;
}

interface Decision {
  readonly allowed: boolean;
  readonly reason: string;
  /** Whether it would be the same for every object of the resource, in every namespace. */
  readonly general?: true;
}

const ALLOWED: Decision = { allowed: true, reason: "" };
const MAX_DECISIONS = 2048;

/**
 * Allows what a Role or ClusterRole bound to the user or one of its groups allows; system:masters may do everything.
 * Decisions are remembered per user object until any role or binding changes.
 */
export function createRbacAuthorizer(api: InternalApi): RbacAuthorizer {
  const index = new RbacIndex(api);
  let remembered = new WeakMap<UserInfo, Map<string, Decision>>();
  let generation = 0;

  const decide = (request: RequestAttributes): Decision => {
    const problems: string[] = [];
    let reason: string | undefined;
    let general = request.isResource;
    index.visit(
      request.user,
      request.namespace,
      ({ rule, description, clusterWide }) => {
        if (rule.resourceNames.length > 0 && ruleAllows({ ...rule, resourceNames: [] }, request)) general = false;
        if (!ruleAllows(rule, request)) return false;
        general &&= clusterWide;
        reason = `RBAC: allowed by ${description}`;
        return true;
      },
      problems,
    );
    if (reason !== undefined) return general ? { allowed: true, reason, general } : { allowed: true, reason };
    return { allowed: false, reason: problems.length === 0 ? "" : `RBAC: ${aggregate(problems)}` };
  };

  return {
    authorize(request) {
      if (request.user.groups.includes(Groups.masters)) return ALLOWED;
      const now = index.generation();
      if (now !== generation) {
        remembered = new WeakMap();
        generation = now;
      }
      let decisions = remembered.get(request.user);
      if (decisions === undefined || decisions.size >= MAX_DECISIONS) {
        decisions = new Map();
        remembered.set(request.user, decisions);
      }
      // Controllers ask for thousands of objects by name; what is granted for all of them is remembered once.
      const general = request.isResource
        ? `${request.verb} ${request.group}/${request.resource}/${request.subresource}`
        : `${request.verb} ${request.path}`;
      const granted = decisions.get(general);
      if (granted !== undefined) return granted;
      const key = request.isResource ? `${general} ${request.namespace}/${request.name}` : general;
      let decision = decisions.get(key);
      if (decision === undefined) {
        decision = decide(request);
        decisions.set(decision.general ? general : key, decision);
      }
      return decision;
    },

    rulesFor(user, namespace) {
      const resourceRules: ResourceRule[] = [];
      const nonResourceRules: { verbs: string[]; nonResourceURLs: string[] }[] = [];
      const add = (rule: PolicyRule): void => {
        if (rule.nonResourceURLs.length > 0)
          nonResourceRules.push({ verbs: [...rule.verbs], nonResourceURLs: [...rule.nonResourceURLs] });
        if (rule.resources.length > 0)
          resourceRules.push({
            verbs: [...rule.verbs],
            apiGroups: [...rule.apiGroups],
            resources: [...rule.resources],
            ...(rule.resourceNames.length === 0 ? {} : { resourceNames: [...rule.resourceNames] }),
          });
      };
      for (const rule of this.appliedRules(user, namespace).rules) add(rule);
      return { resourceRules, nonResourceRules };
    },

    appliedRules(user, namespace) {
      const rules: PolicyRule[] = [];
      const problems: string[] = [];
      index.visit(
        user,
        namespace,
        ({ rule }) => {
          rules.push(rule);
          return false;
        },
        problems,
      );
      return { rules, problems };
    },

    roleRules: (kind, namespace, name) => index.rules(kind, namespace, name),
    close: () => index.close(),
  };
}

/** Several errors in Go's utilerrors.Aggregate form: repeated ones once, several in brackets. */
export function aggregate(messages: readonly string[]): string {
  const unique = [...new Set(messages)];
  return unique.length === 1 ? (unique[0] ?? "") : `[${unique.join(", ")}]`;
}

/** The 403 for a request that authorization refused, with upstream's message. */
export function forbiddenFor(request: RequestAttributes, reason: string): ApiError {
  const who = `User ${goQuote(request.user.name)} cannot ${request.verb}`;
  const suffix = reason === "" ? "" : `: ${reason}`;
  if (!request.isResource)
    return forbidden({ group: "", resource: "" }, "", `${who} path ${goQuote(request.path)}${suffix}`);
  const resource = request.subresource === "" ? request.resource : `${request.resource}/${request.subresource}`;
  const scope = request.namespace === "" ? "at the cluster scope" : `in the namespace ${goQuote(request.namespace)}`;
  const detail = `${who} resource ${goQuote(resource)} in API group ${goQuote(request.group)} ${scope}${suffix}`;
  return forbidden({ group: request.group, resource: request.resource }, request.name, detail);
}
