import { ApiError, type Unstructured } from "@capstan/apimachinery";
import { reconcileDefaultRbac } from "./auth/reconcile-rbac.ts";
import type { InternalApi, ResourceKey } from "./types.ts";

const NAMESPACES: ResourceKey = { group: "", plural: "namespaces" };
const DEFAULT_NAMESPACES = ["default", "kube-system", "kube-public", "kube-node-lease"];
const MANAGER = "kube-apiserver";

/** Creates what every cluster has from its first moment, as far as it is missing; all in one commit. */
export async function createDefaultObjects(api: InternalApi, rbac: boolean): Promise<void> {
  await Promise.all(
    DEFAULT_NAMESPACES.map((name) =>
      ensure(api, NAMESPACES, { apiVersion: "v1", kind: "Namespace", metadata: { name } }),
    ),
  );
  if (!rbac) return;
  await reconcileDefaultRbac(api);
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
