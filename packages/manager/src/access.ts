import type { Clock, Transport, Unstructured, UserInfo } from "@capstan/apimachinery";
import type { ApiServer } from "@capstan/apiserver";
import { kindsRole, type PolicyRule } from "@capstan/capi";
import { enrolmentRoles } from "@capstan/host-agent";
import { Client, kindRef } from "@capstan/runtime";
import { kindsOf, PROVIDERS } from "./providers.ts";
import { type RoleProvider, userRoles } from "./user-roles.ts";

/** Namespace of the manager in a management cluster. */
export const MANAGER_NAMESPACE = "capstan-system";
/** Name of the manager's ServiceAccount, and of the aggregated ClusterRole that other providers extend. */
export const MANAGER_ACCOUNT = "capstan-manager";

const Namespace = kindRef({ group: "", version: "v1", kind: "Namespace", plural: "namespaces", namespaced: false });
const RBAC = "rbac.authorization.k8s.io";
const OWN_ROLE = "capstan-manager-own";
const ALL_VERBS = ["create", "delete", "get", "list", "patch", "update", "watch"];
const READ = ["get", "list", "watch"];
const INSTALL = ["create", "get", "list", "patch", "watch"];

/** What every manager needs, whatever providers it loads. */
const MANAGER_RULES: readonly PolicyRule[] = [
  { apiGroups: [""], resources: ["secrets", "configmaps"], verbs: ALL_VERBS },
  { apiGroups: [""], resources: ["namespaces", "nodes"], verbs: READ },
  { apiGroups: ["", "events.k8s.io"], resources: ["events"], verbs: INSTALL },
  { apiGroups: ["coordination.k8s.io"], resources: ["leases"], verbs: ALL_VERBS },
  // The API server decides who may read metrics.
  { apiGroups: ["authentication.k8s.io"], resources: ["tokenreviews"], verbs: ["create"] },
  { apiGroups: ["authorization.k8s.io"], resources: ["subjectaccessreviews"], verbs: ["create"] },
  { apiGroups: ["apiextensions.k8s.io"], resources: ["customresourcedefinitions"], verbs: INSTALL },
  {
    apiGroups: ["admissionregistration.k8s.io"],
    resources: ["mutatingwebhookconfigurations", "validatingwebhookconfigurations"],
    verbs: INSTALL,
  },
];

/** Builds the manager's ServiceAccount and its permissions; those for the kinds of providers are added by aggregation. */
export function managerAccess(providers: readonly RoleProvider[] = PROVIDERS): Unstructured[] {
  const rules = [...MANAGER_RULES, ...providers.flatMap(({ access }) => access?.rules ?? [])];
  const binding = (name: string): Unstructured => ({
    apiVersion: `${RBAC}/v1`,
    kind: "ClusterRoleBinding",
    metadata: { name },
    roleRef: { apiGroup: RBAC, kind: "ClusterRole", name },
    subjects: [{ kind: "ServiceAccount", name: MANAGER_ACCOUNT, namespace: MANAGER_NAMESPACE }],
  });
  return [
    {
      apiVersion: "v1",
      kind: "ServiceAccount",
      metadata: { name: MANAGER_ACCOUNT, namespace: MANAGER_NAMESPACE },
    },
    { apiVersion: `${RBAC}/v1`, kind: "ClusterRole", metadata: { name: OWN_ROLE }, rules },
    binding(OWN_ROLE),
    {
      apiVersion: `${RBAC}/v1`,
      kind: "ClusterRole",
      metadata: { name: MANAGER_ACCOUNT },
      aggregationRule: {
        clusterRoleSelectors: [{ matchLabels: { "cluster.x-k8s.io/aggregate-to-manager": "true" } }],
      },
    },
    binding(MANAGER_ACCOUNT),
    // Who holds a token of a host may ask for its certificate. Not the manager's to grant.
    ...enrolmentRoles(),
  ];
}

/**
 * Connects the controllers to the embedded API under the ServiceAccount and roles that the component files ship, so that every standalone
 * run verifies that they suffice in a management cluster.
 */
export async function managerTransport(
  api: ApiServer,
  clock: Clock,
  providers: readonly RoleProvider[] = PROVIDERS,
): Promise<Transport> {
  const admin = new Client(api.admin(), { fieldManager: "capstan", clock });
  const namespace = { name: MANAGER_NAMESPACE };
  // An apply that owns no field would be written again by the next start, which must work on a full disk too.
  if ((await admin.get(Namespace, namespace)) === undefined)
    await admin.create({ apiVersion: "v1", kind: "Namespace", metadata: namespace });
  const roles = [
    kindsRole("capstan", kindsOf(providers)),
    ...userRoles("capstan", providers),
    ...managerAccess(providers),
  ];
  await Promise.all(roles.map((object) => admin.apply(object)));
  const groups = ["system:serviceaccounts", `system:serviceaccounts:${MANAGER_NAMESPACE}`, "system:authenticated"];
  const user: UserInfo = { name: `system:serviceaccount:${MANAGER_NAMESPACE}:${MANAGER_ACCOUNT}`, groups };
  return api.transport(user);
}
