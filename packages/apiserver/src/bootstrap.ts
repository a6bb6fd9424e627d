import { ApiError, type Unstructured } from "@capstan/apimachinery";
import { bootstrapRbac } from "./auth/bootstrap-rbac.ts";
import type { InternalApi, ResourceKey } from "./types.ts";

const NAMESPACES: ResourceKey = { group: "", plural: "namespaces" };
const DEFAULT_NAMESPACES = ["default", "kube-system", "kube-public", "kube-node-lease"];
const RBAC_GROUP = "rbac.authorization.k8s.io";
const RBAC_PLURALS: Readonly<Record<string, string>> = {
  ClusterRole: "clusterroles",
  ClusterRoleBinding: "clusterrolebindings",
  Role: "roles",
  RoleBinding: "rolebindings",
};
const MANAGER = "kube-apiserver";

/** Creates what every cluster has from its first moment, as far as it is missing; all in one commit. */
export async function createDefaultObjects(api: InternalApi, rbac: boolean): Promise<void> {
  await Promise.all(
    DEFAULT_NAMESPACES.map((name) =>
      ensure(api, NAMESPACES, { apiVersion: "v1", kind: "Namespace", metadata: { name } }),
    ),
  );
  if (!rbac) return;
  await Promise.all(
    bootstrapRbac().map((object) =>
      ensure(api, { group: RBAC_GROUP, plural: RBAC_PLURALS[object.kind] ?? "" }, object),
    ),
  );
}

async function ensure(api: InternalApi, key: ResourceKey, object: Unstructured): Promise<void> {
  const { namespace = "", name = "" } = object.metadata;
  if (api.get(key, namespace, name) !== undefined) return;
  try {
    await api.create(key, object, MANAGER);
  } catch (error) {
    if (!(error instanceof ApiError && error.reason === "AlreadyExists")) throw error;
  }
}
