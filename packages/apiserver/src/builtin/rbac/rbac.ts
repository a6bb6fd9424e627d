import {
  deepEqual,
  type FieldError,
  invalidValue,
  isDns1123Subdomain,
  isObject,
  isPathSegment,
  notSupported,
  required,
  type Unstructured,
} from "@capstan/apimachinery";
import type { PrinterColumn } from "../../types.ts";
import { AGE, CREATED_AT, column, NAME, wide } from "../columns.ts";
import { defineBuiltin } from "../define.ts";
import { labelSelectorErrors } from "../label-selector-errors.ts";
import { at, list, obj, objects, setDefault, text } from "../read.ts";

const GROUP = "rbac.authorization.k8s.io";
const ROLE_COLUMNS = [NAME, CREATED_AT];
const shared = { allowCreateOnUpdate: true, noGeneration: true, nameRule: "path-segment" } as const;

/** rbac.authorization.k8s.io/v1 Role. */
export const role = defineBuiltin({
  group: GROUP,
  kind: "Role",
  namespaced: true,
  columns: ROLE_COLUMNS,
  strategy: { ...shared, applyDefaults: fillRules, validate: (o) => ruleErrors(o, true) },
});

/** rbac.authorization.k8s.io/v1 ClusterRole. */
export const clusterRole = defineBuiltin({
  group: GROUP,
  kind: "ClusterRole",
  namespaced: false,
  columns: ROLE_COLUMNS,
  strategy: {
    ...shared,
    applyDefaults: fillRules,
    validate: (o) => [...ruleErrors(o, false), ...aggregationErrors(o)],
  },
});

/** Go writes the rules of a role even when there are none. */
function fillRules(object: Unstructured): void {
  object["rules"] ??= null;
}

/** rbac.authorization.k8s.io/v1 RoleBinding. */
export const roleBinding = bindingType("RoleBinding", true);

/** rbac.authorization.k8s.io/v1 ClusterRoleBinding. */
export const clusterRoleBinding = bindingType("ClusterRoleBinding", false);

function bindingType(kind: string, namespaced: boolean): ReturnType<typeof defineBuiltin> {
  const validate = (object: Unstructured): FieldError[] => bindingErrors(object, namespaced);
  return defineBuiltin({
    group: GROUP,
    kind,
    namespaced,
    columns: [
      NAME,
      column("Role", (o) => `${text(at(o, "roleRef", "kind"))}/${text(at(o, "roleRef", "name"))}`),
      AGE,
      subjectColumn("Users", "User"),
      subjectColumn("Groups", "Group"),
      subjectColumn("ServiceAccounts", "ServiceAccount"),
    ],
    strategy: {
      ...shared,
      applyDefaults: applyBindingDefaults,
      validate,
      validateUpdate: (object, old) => [...validate(object), ...roleRefErrors(object, old)],
    },
  });
}

function subjectColumn(name: string, kind: string): PrinterColumn {
  return wide(name, (o) =>
    list(o.subjects)
      .filter((s) => at(s, "kind") === kind)
      .map((s) => (kind === "ServiceAccount" ? `${text(at(s, "namespace"))}/` : "") + text(at(s, "name")))
      .join(", "),
  );
}

function applyBindingDefaults(object: Unstructured): void {
  const ref = object.roleRef;
  if (isObject(ref) && text(ref.apiGroup) === "") ref.apiGroup = GROUP;
  for (const subject of objects(object.subjects))
    if (subject.kind === "User" || subject.kind === "Group") {
      if (subject.apiGroup === "") delete subject.apiGroup;
      setDefault(subject, "apiGroup", GROUP);
    }
}

function ruleErrors(object: Unstructured, namespaced: boolean): FieldError[] {
  return list(object.rules).flatMap((rule, i) => policyRuleErrors(rule, namespaced, `rules[${i}]`));
}

function policyRuleErrors(rule: unknown, namespaced: boolean, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const empty = (key: string): boolean => list(at(rule, key)).length === 0;
  if (empty("verbs")) errors.push(required(`${path}.verbs`));
  if (!empty("nonResourceURLs")) {
    const field = `${path}.nonResourceURLs`;
    const urls = at(rule, "nonResourceURLs");
    if (namespaced) errors.push(invalidValue(field, urls, "namespaced rules cannot apply to non-resource URLs"));
    if (!empty("apiGroups") || !empty("resources") || !empty("resourceNames"))
      errors.push(invalidValue(field, urls, "rules cannot apply to both regular resources and non-resource URLs"));
    return errors;
  }
  if (empty("apiGroups"))
    errors.push(required(`${path}.apiGroups`, "resource rules must supply at least one api group"));
  if (empty("resources"))
    errors.push(required(`${path}.resources`, "resource rules must supply at least one resource"));
  return errors;
}

function aggregationErrors(object: Unstructured): FieldError[] {
  if (!isObject(object.aggregationRule)) return [];
  const path = "aggregationRule.clusterRoleSelectors";
  const selectors = list(object.aggregationRule["clusterRoleSelectors"]);
  if (selectors.length === 0)
    return [required(path, "at least one clusterRoleSelector required if aggregationRule is non-nil")];
  return selectors.flatMap((s, i) => labelSelectorErrors(s, `${path}[${i}]`));
}

function bindingErrors(object: Unstructured, namespaced: boolean): FieldError[] {
  const ref = obj(object.roleRef);
  const errors: FieldError[] = [];
  if (ref.apiGroup !== GROUP) errors.push(notSupported("roleRef.apiGroup", text(ref.apiGroup), [GROUP]));
  const kinds = namespaced ? ["Role", "ClusterRole"] : ["ClusterRole"];
  if (!kinds.includes(text(ref.kind))) errors.push(notSupported("roleRef.kind", text(ref.kind), kinds));
  const name = text(ref.name);
  if (name !== "") errors.push(...isPathSegment(name).map((m) => invalidValue("roleRef.name", name, m)));
  const subjects = list(object.subjects);
  errors.push(...subjects.flatMap((subject, i) => subjectErrors(subject, namespaced, `subjects[${i}]`)));
  // Upstream checks for missing names by the rules of the types, after everything that is checked by code.
  subjects.forEach((subject, i) => {
    if (text(at(subject, "name")) === "") errors.push(required(`subjects[${i}].name`));
  });
  if (name === "") errors.push(required("roleRef.name"));
  return errors;
}

function subjectErrors(subject: unknown, namespaced: boolean, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const name = text(at(subject, "name"));
  const apiGroup = text(at(subject, "apiGroup"));
  const kind = text(at(subject, "kind"));
  if (kind === "ServiceAccount") {
    if (name !== "") errors.push(...isDns1123Subdomain(name).map((m) => invalidValue(`${path}.name`, name, m)));
    if (apiGroup !== "") errors.push(notSupported(`${path}.apiGroup`, apiGroup, [""]));
    if (!namespaced && text(at(subject, "namespace")) === "") errors.push(required(`${path}.namespace`));
  } else if (kind === "User" || kind === "Group") {
    if (apiGroup !== GROUP) errors.push(notSupported(`${path}.apiGroup`, apiGroup, [GROUP]));
  } else errors.push(notSupported(`${path}.kind`, kind, ["ServiceAccount", "User", "Group"]));
  return errors;
}

function roleRefErrors(object: Unstructured, old: Unstructured): FieldError[] {
  if (deepEqual(object.roleRef, old.roleRef)) return [];
  const ref = obj(object.roleRef);
  // The real server prints its internal Go struct here.
  const shown = { APIGroup: text(ref.apiGroup), Kind: text(ref.kind), Name: text(ref.name) };
  return [invalidValue("roleRef", shown, "field is immutable")];
}
