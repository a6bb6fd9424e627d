import type { Clock, Transport, Unstructured, UserInfo } from "@capstan/apimachinery";
import type { ApiServer } from "@capstan/apiserver";
import { kindsRole } from "@capstan/capi";
import { enrolmentRoles } from "@capstan/host-agent";
import { Client, kindRef } from "@capstan/runtime";
import { KINDS } from "./kinds.ts";
import { userRoles } from "./user-roles.ts";

/** Where the manager lives in a management cluster. */
export const MANAGER_NAMESPACE = "capstan-system";
/** The manager's service account, and the role that other providers' rights are added to. */
export const MANAGER_ACCOUNT = "capstan-manager";

const Namespace = kindRef({ group: "", version: "v1", kind: "Namespace", plural: "namespaces", namespaced: false });
const RBAC = "rbac.authorization.k8s.io";
const OWN_ROLE = "capstan-manager-own";
const ALL_VERBS = ["create", "delete", "get", "list", "patch", "update", "watch"];
const READ = ["get", "list", "watch"];
const INSTALL = ["create", "get", "list", "patch", "watch"];

/** What the manager needs beside our kinds. */
const MANAGER_RULES = [
  {
    apiGroups: [""],
    resources: ["secrets", "configmaps", "services", "pods", "persistentvolumeclaims"],
    verbs: ALL_VERBS,
  },
  // etcd in pods is asked and filled through the API: a WebSocket is a get to older servers, a create to newer ones.
  { apiGroups: [""], resources: ["pods/portforward", "pods/exec"], verbs: ["create", "get"] },
  { apiGroups: [""], resources: ["namespaces", "nodes"], verbs: READ },
  { apiGroups: ["", "events.k8s.io"], resources: ["events"], verbs: INSTALL },
  { apiGroups: ["apps"], resources: ["deployments", "statefulsets"], verbs: ALL_VERBS },
  { apiGroups: ["policy"], resources: ["poddisruptionbudgets"], verbs: ALL_VERBS },
  { apiGroups: ["networking.k8s.io"], resources: ["networkpolicies"], verbs: ALL_VERBS },
  { apiGroups: ["coordination.k8s.io"], resources: ["leases"], verbs: ALL_VERBS },
  // Who may read metrics is the API server's to say.
  { apiGroups: ["authentication.k8s.io"], resources: ["tokenreviews"], verbs: ["create"] },
  { apiGroups: ["authorization.k8s.io"], resources: ["subjectaccessreviews"], verbs: ["create"] },
  { apiGroups: ["apiextensions.k8s.io"], resources: ["customresourcedefinitions"], verbs: INSTALL },
  {
    apiGroups: ["admissionregistration.k8s.io"],
    resources: ["mutatingwebhookconfigurations", "validatingwebhookconfigurations"],
    verbs: INSTALL,
  },
  // Own hosts: each agent gets a role that names its host alone, and its certificate request is approved.
  { apiGroups: [RBAC], resources: ["roles", "rolebindings"], verbs: ALL_VERBS },
  { apiGroups: ["certificates.k8s.io"], resources: ["certificatesigningrequests"], verbs: [...READ, "delete"] },
  {
    apiGroups: ["certificates.k8s.io"],
    resources: ["certificatesigningrequests/approval"],
    verbs: ["patch", "update"],
  },
  {
    apiGroups: ["certificates.k8s.io"],
    resources: ["signers"],
    resourceNames: ["kubernetes.io/kube-apiserver-client"],
    verbs: ["approve"],
  },
];

/** The manager's account with its rights; what providers, ours and others', add comes by aggregation. */
export function managerAccess(): Unstructured[] {
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
    { apiVersion: `${RBAC}/v1`, kind: "ClusterRole", metadata: { name: OWN_ROLE }, rules: MANAGER_RULES },
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
 * The way of the controllers to the embedded API: under the account and the roles that the component files ship, so that every
 * run on one machine proves what a management cluster will allow.
 */
export async function managerTransport(api: ApiServer, clock: Clock): Promise<Transport> {
  const admin = new Client(api.admin(), { fieldManager: "capstan", clock });
  const namespace = { name: MANAGER_NAMESPACE };
  // An apply that owns no field would be written again by the next start, which must work on a full disk too.
  if ((await admin.get(Namespace, namespace)) === undefined)
    await admin.create({ apiVersion: "v1", kind: "Namespace", metadata: namespace });
  const roles = [kindsRole("capstan", KINDS), ...userRoles("capstan", KINDS), ...managerAccess()];
  await Promise.all(roles.map((object) => admin.apply(object)));
  const groups = ["system:serviceaccounts", `system:serviceaccounts:${MANAGER_NAMESPACE}`, "system:authenticated"];
  const user: UserInfo = { name: `system:serviceaccount:${MANAGER_NAMESPACE}:${MANAGER_ACCOUNT}`, groups };
  return api.transport(user);
}
