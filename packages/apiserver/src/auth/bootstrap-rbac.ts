import { deepFreeze, type Unstructured } from "@capstan/apimachinery";
import { DEFAULT_BINDINGS, DEFAULT_CLUSTER_ROLES, type DefaultRole, type RuleLine, URLS } from "./default-roles.ts";
import { RBAC_GROUP } from "./resources.ts";

const API_VERSION = `${RBAC_GROUP}/v1`;
const LABELS = { "kubernetes.io/bootstrapping": "rbac-defaults" };
const ANNOTATIONS = { "rbac.authorization.kubernetes.io/autoupdate": "true" };

let made: readonly Unstructured[] | undefined;

/** The default ClusterRoles and bindings: frozen and shared by all servers of a process. */
export function bootstrapRbac(): readonly Unstructured[] {
  made ??= deepFreeze([
    ...DEFAULT_CLUSTER_ROLES.map(clusterRole),
    ...Object.entries(DEFAULT_BINDINGS).map(([name, subjects]) => ({
      apiVersion: API_VERSION,
      kind: "ClusterRoleBinding",
      metadata: { name, labels: LABELS, annotations: ANNOTATIONS },
      roleRef: { apiGroup: RBAC_GROUP, kind: "ClusterRole", name },
      ...(subjects.length === 0
        ? {}
        : { subjects: subjects.map(([kind, subject]) => ({ apiGroup: RBAC_GROUP, kind, name: subject })) }),
    })),
  ]);
  return made;
}

function clusterRole(role: DefaultRole): Unstructured {
  const own = role.rules.map(policyRule);
  return {
    apiVersion: API_VERSION,
    kind: "ClusterRole",
    metadata: { name: role.name, labels: { ...LABELS, ...role.labels }, annotations: ANNOTATIONS },
    ...(role.aggregates === undefined
      ? { rules: own }
      : {
          aggregationRule: { clusterRoleSelectors: [{ matchLabels: aggregationLabel(role.aggregates) }] },
          rules: aggregatedRules(role.aggregates),
        }),
  };
}

const aggregationLabel = (role: string): Record<string, string> => ({
  [`rbac.authorization.k8s.io/aggregate-to-${role}`]: "true",
});

/** What the aggregation controller will compute from the defaults alone, so that these roles work from the first request on. */
function aggregatedRules(target: string): object[] {
  const label = `rbac.authorization.k8s.io/aggregate-to-${target}`;
  return DEFAULT_CLUSTER_ROLES.filter((role) => role.labels?.[label] === "true")
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((role) => (role.aggregates === undefined ? role.rules.map(policyRule) : aggregatedRules(role.aggregates)));
}

function policyRule([verbs, groups, resources, names]: RuleLine): object {
  if (groups === URLS) return { verbs: verbs.split(","), nonResourceURLs: resources.split(" ") };
  return {
    verbs: verbs.split(","),
    apiGroups: groups.split(","),
    resources: resources.split(" "),
    resourceNames: names?.split(" "),
  };
}
