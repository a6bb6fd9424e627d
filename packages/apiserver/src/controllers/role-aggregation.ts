import { deepEqual, type LabelSelectorObject, labelSelectorFromObject, type Unstructured } from "@capstan/apimachinery";
import type { InternalApi, ResourceKey } from "../types.ts";
import type { Controller, ControllerDeps } from "./deps.ts";
import { WorkList } from "./work-list.ts";

const CLUSTER_ROLES: ResourceKey = { group: "rbac.authorization.k8s.io", plural: "clusterroles" };
const MANAGER = "clusterrole-aggregation-controller";

/** Fills the rules of ClusterRoles with an aggregationRule from the roles that their selectors match. */
export function startRoleAggregation(api: InternalApi, deps: ControllerDeps): Controller {
  const aggregating = new Set<string>();
  const work = new WorkList(
    deps.clock,
    (name) => aggregate(api, name),
    (name, error) => deps.log(`failed to aggregate the rules of ClusterRole ${name}; retrying`, error),
  );
  const unsubscribe = api.watch(CLUSTER_ROLES, ({ name, object, previous }) => {
    if (object !== undefined && selectorsOf(object).length > 0) aggregating.add(name);
    else aggregating.delete(name);
    const sources = object !== undefined && previous !== undefined && sameSource(object, previous) ? [] : aggregating;
    for (const target of sources) work.add(target);
  });
  return {
    stop: () => {
      unsubscribe();
      work.stop();
    },
    idle: () => work.idle(),
  };
}

async function aggregate(api: InternalApi, name: string): Promise<void> {
  const role = api.get(CLUSTER_ROLES, "", name);
  if (role === undefined || selectorsOf(role).length === 0) return;
  const rules = aggregatedRules(role, api.list(CLUSTER_ROLES));
  if (deepEqual(role["rules"] ?? [], rules)) return;
  await api.update(CLUSTER_ROLES, "", name, MANAGER, (object) => {
    object["rules"] = rules;
  });
}

/** Rules of all matching roles in the order of selectors, then names; each rule once. */
function aggregatedRules(role: Unstructured, roles: readonly Unstructured[]): unknown[] {
  const rules: unknown[] = [];
  for (const selector of selectorsOf(role)) {
    const parsed = labelSelectorFromObject(selector);
    for (const source of roles) {
      if (source.metadata.name === role.metadata.name || !parsed.matches(source.metadata.labels)) continue;
      for (const rule of rulesOf(source)) if (!rules.some((known) => deepEqual(known, rule))) rules.push(rule);
    }
  }
  return rules;
}

function selectorsOf(role: Unstructured): LabelSelectorObject[] {
  const rule = role["aggregationRule"] as { clusterRoleSelectors?: LabelSelectorObject[] } | undefined;
  return rule?.clusterRoleSelectors ?? [];
}

function rulesOf(role: Unstructured): readonly unknown[] {
  const rules = role["rules"];
  return Array.isArray(rules) ? rules : [];
}

function sameSource(a: Unstructured, b: Unstructured): boolean {
  return (
    deepEqual(a["rules"], b["rules"]) &&
    deepEqual(a.metadata.labels, b.metadata.labels) &&
    deepEqual(a["aggregationRule"], b["aggregationRule"])
  );
}
