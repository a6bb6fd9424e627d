import { deepCopy, deepEqual, type Unstructured } from "@capstan/apimachinery";
import { at, list, text } from "../builtin/read.ts";
import type { InternalApi, ResourceKey } from "../types.ts";
import { bootstrapRbac } from "./bootstrap-rbac.ts";
import { missingRules, type PolicyRule, rulesOf } from "./policy-rule.ts";
import { Resources } from "./resources.ts";

const MANAGER = "kube-apiserver";
const AUTO_UPDATE = "rbac.authorization.kubernetes.io/autoupdate";
const KEYS: Readonly<Record<string, ResourceKey>> = {
  ClusterRole: Resources.clusterRoles,
  ClusterRoleBinding: Resources.clusterRoleBindings,
};

/**
 * Brings the default roles and bindings up to what this version wants, as kube-apiserver does at each start: missing ones are
 * created, missing rules, subjects and labels added; what users added is kept, and so is an object with autoupdate "false".
 */
export async function reconcileDefaultRbac(api: InternalApi): Promise<void> {
  await Promise.all(
    bootstrapRbac().map(async (wanted) => {
      const key = KEYS[wanted.kind];
      if (key === undefined) return;
      const found = api.get(key, "", wanted.metadata.name ?? "");
      if (found === undefined) await api.create(key, deepCopy(wanted), MANAGER);
      else if (found.metadata.annotations?.[AUTO_UPDATE] !== "false") await extend(api, key, found, wanted);
    }),
  );
}

async function extend(api: InternalApi, key: ResourceKey, found: Unstructured, wanted: Unstructured): Promise<void> {
  const name = wanted.metadata.name ?? "";
  if (text(at(found, "roleRef", "name")) !== text(at(wanted, "roleRef", "name"))) {
    // A roleRef cannot be changed.
    await api.delete(key, "", name);
    await api.create(key, deepCopy(wanted), MANAGER);
    return;
  }
  if (isComplete(found, wanted)) return;
  await api.update(key, "", name, MANAGER, (object) => {
    object.metadata.labels = { ...object.metadata.labels, ...wanted.metadata.labels };
    const rules = rulesMissing(object, wanted);
    if (rules.length > 0) object["rules"] = [...list(object["rules"]), ...rules];
    const subjects = subjectsMissing(object, wanted);
    if (subjects.length > 0) object["subjects"] = [...list(object["subjects"]), ...subjects];
  });
}

function isComplete(found: Unstructured, wanted: Unstructured): boolean {
  const labels = Object.entries(wanted.metadata.labels ?? {});
  return (
    labels.every(([key, value]) => found.metadata.labels?.[key] === value) &&
    rulesMissing(found, wanted).length === 0 &&
    subjectsMissing(found, wanted).length === 0
  );
}

/** Rules of an aggregated role are the aggregation controller's. */
function rulesMissing(found: Unstructured, wanted: Unstructured): object[] {
  if (wanted.kind !== "ClusterRole" || found["aggregationRule"] !== undefined) return [];
  if (deepEqual(found["rules"], wanted["rules"])) return [];
  return missingRules(rulesOf(found["rules"]), rulesOf(wanted["rules"])).map(withoutEmpty);
}

function withoutEmpty(rule: PolicyRule): object {
  return Object.fromEntries(Object.entries(rule).filter(([, values]) => values.length > 0));
}

function subjectsMissing(found: Unstructured, wanted: Unstructured): unknown[] {
  const same = (a: unknown, b: unknown): boolean =>
    ["kind", "name", "namespace"].every((field) => text(at(a, field)) === text(at(b, field)));
  return list(wanted["subjects"]).filter((subject) => !list(found["subjects"]).some((known) => same(known, subject)));
}
