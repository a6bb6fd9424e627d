import type { Unstructured } from "@capstan/apimachinery";

const RBAC = "rbac.authorization.k8s.io";

/** An API server without a node authorizer gives nodes their rights as Kubernetes did before it had one. */
export function embeddedObjects(): Unstructured[] {
  return [
    {
      apiVersion: `${RBAC}/v1`,
      kind: "ClusterRoleBinding",
      metadata: { name: "capstan:nodes" },
      roleRef: { apiGroup: RBAC, kind: "ClusterRole", name: "system:node" },
      subjects: [{ kind: "Group", name: "system:nodes", apiGroup: RBAC }],
    },
  ];
}
