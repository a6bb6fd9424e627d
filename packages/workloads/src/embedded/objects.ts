import { deepFreeze, type Unstructured } from "@capstan/apimachinery";

const RBAC = "rbac.authorization.k8s.io";
const MAX_SHARED = 500;
/** These differ in every cluster. */
const OWN = new Set(["cluster-info", "kubeadm-config"]);

/** RBAC objects for nodes, because the embedded API server has no node authorizer. */
export const EMBEDDED_OBJECTS: readonly Unstructured[] = deepFreeze([
  {
    apiVersion: `${RBAC}/v1`,
    kind: "ClusterRoleBinding",
    metadata: { name: "capstan:nodes" },
    roleRef: { apiGroup: RBAC, kind: "ClusterRole", name: "system:node" },
    subjects: [{ kind: "Group", name: "system:nodes", apiGroup: RBAC }],
  },
]);

const known = new Map<string, Unstructured>();

/** Returns one shared instance for equal objects, to save memory with thousands of clusters. */
export function shared(object: Unstructured): Unstructured {
  if (OWN.has(object.metadata.name ?? "")) return object;
  const text = JSON.stringify(object);
  let value = known.get(text);
  if (value === undefined) {
    if (known.size >= MAX_SHARED) known.clear();
    value = deepFreeze(object);
    known.set(text, value);
  }
  return value;
}
