import { forbidden, notFound, type Unstructured } from "@capstan/apimachinery";
import { yieldToEventLoop } from "@capstan/apimachinery/foreign";
import { aggregate } from "../auth/rbac-authorizer.ts";
import type { AdmissionRequest, InternalApi, ResourceRegistry, ResourceType } from "../types.ts";
import type { Webhook, WebhookRule } from "./webhook.types.ts";

const NAMESPACES = { group: "", plural: "namespaces" };
const isNamespaces = (type: ResourceType): boolean => type.group === "" && type.plural === NAMESPACES.plural;
const has = (values: readonly string[], value: string): boolean => values.includes("*") || values.includes(value);

/** Webhooks never judge admission configuration itself, so that a broken one can always be removed. */
export function isExempt(type: ResourceType): boolean {
  return type.group === "admissionregistration.k8s.io";
}

/** The version of `type` that a webhook wants to see, or undefined when it does not match the request. */
export function wantedType(
  webhook: Webhook,
  type: ResourceType,
  operation: string,
  subresource: string,
  registry: ResourceRegistry,
): ResourceType | undefined {
  const wants = (candidate: ResourceType): boolean =>
    webhook.rules.some((rule) => ruleMatches(rule, candidate, operation, subresource));
  if (wants(type)) return type;
  if (webhook.matchPolicy === "Exact" || type.builtin) return undefined;
  return registry
    .types()
    .find((other) => other.group === type.group && other.plural === type.plural && other !== type && wants(other));
}

function ruleMatches(rule: WebhookRule, type: ResourceType, operation: string, subresource: string): boolean {
  const scoped =
    rule.scope === "*" ||
    (rule.scope === "Namespaced" ? type.namespaced : rule.scope === "Cluster" && !type.namespaced);
  return (
    scoped &&
    has(rule.operations, operation) &&
    has(rule.apiGroups, type.group) &&
    has(rule.apiVersions, type.version) &&
    rule.resources.some((resource) => {
      const [name, sub = ""] = resource.split("/");
      return (name === "*" || name === type.plural) && (sub === "*" || sub === subresource);
    })
  );
}

/** Whether the selectors match: the namespace's labels (its own for a Namespace), and the new or the old object's. */
export function selectorsMatch(webhook: Webhook, request: AdmissionRequest, api: Pick<InternalApi, "get">): boolean {
  const { object, oldObject } = request;
  if (!webhook.objectSelector.empty) {
    const matches = (o: Unstructured | undefined): boolean =>
      o !== undefined && webhook.objectSelector.matches(o.metadata.labels);
    if (!matches(object) && !matches(oldObject)) return false;
  }
  if (webhook.namespaceSelector.empty) return true;
  if (isNamespaces(request.type)) return webhook.namespaceSelector.matches((object ?? oldObject)?.metadata.labels);
  if (!request.type.namespaced) return true;
  const { namespace } = request.attributes;
  const found = api.get(NAMESPACES, "", namespace);
  if (found === undefined) throw notFound({ group: "", resource: NAMESPACES.plural }, namespace);
  return webhook.namespaceSelector.matches(found.metadata.labels);
}

/** What the conditions of one webhook may cost together, as upstream. */
const COST_BUDGET = 2_500_000;
/** Cost units that take some milliseconds: yields to the event loop after it. */
const COST_AT_ONCE = 50_000;
/** What compiling one character of a condition costs in that measure, and whatever else is done for one. */
const COST_PER_CHARACTER = 10;
const COST_PER_CONDITION = 3_000;
/** Characters of a condition that takes long to compile. */
const LONG = 10_000;
const OVER_BUDGET = "validation failed due to running out of cost budget, no further validation rules will be run";

/** Whether all match conditions hold. An expression that fails refuses the request, or skips the webhook with policy Ignore. */
export async function conditionsMatch(
  webhook: Webhook,
  request: AdmissionRequest,
  variables: Readonly<Record<string, unknown>>,
): Promise<boolean> {
  const budget = { left: COST_BUDGET };
  let errors: string[] = [];
  let matches = true;
  let sincePause = 0;
  for (const condition of webhook.conditions) {
    const before = budget.left;
    try {
      if (condition.expression.length > LONG) {
        condition.compile();
        await yieldToEventLoop();
      }
      // All are evaluated, also after one that does not hold: what they cost together decides first.
      if (condition.evaluate(variables, budget) === false) matches = false;
    } catch (error) {
      const cause = error instanceof Error ? error.message : "unknown";
      errors.push(`expression '${condition.expression}' resulted in error: ${cause}`);
    }
    if (budget.left < 0) {
      errors = [OVER_BUDGET];
      matches = true;
      break;
    }
    sincePause += before - budget.left + COST_PER_CONDITION + condition.expression.length * COST_PER_CHARACTER;
    if (sincePause < COST_AT_ONCE) continue;
    sincePause = 0;
    await yieldToEventLoop();
  }
  if (!matches) return false;
  if (errors.length === 0) return true;
  if (webhook.failurePolicy === "Ignore") return false;
  const { type, attributes, object } = request;
  const name = attributes.name || object?.metadata.name || "";
  throw forbidden({ group: type.group, resource: type.plural }, name, aggregate(errors));
}
