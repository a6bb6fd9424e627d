import type { ResourceKey } from "../types.ts";

/** The group of Roles and bindings. */
export const RBAC_GROUP = "rbac.authorization.k8s.io";

/** Storage keys of the kinds that authentication and authorization read. */
export const Resources = {
  roles: { group: RBAC_GROUP, plural: "roles" },
  roleBindings: { group: RBAC_GROUP, plural: "rolebindings" },
  clusterRoles: { group: RBAC_GROUP, plural: "clusterroles" },
  clusterRoleBindings: { group: RBAC_GROUP, plural: "clusterrolebindings" },
  serviceAccounts: { group: "", plural: "serviceaccounts" },
  secrets: { group: "", plural: "secrets" },
  pods: { group: "", plural: "pods" },
  nodes: { group: "", plural: "nodes" },
  namespaces: { group: "", plural: "namespaces" },
  certificateSigningRequests: { group: "certificates.k8s.io", plural: "certificatesigningrequests" },
} as const satisfies Record<string, ResourceKey>;
