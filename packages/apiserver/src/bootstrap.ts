import {
  ApiError,
  type Clock,
  formatTime,
  parseGroupVersion,
  type Random,
  randomUuid,
  type Unstructured,
} from "@capstan/apimachinery";
import { bootstrapRbac } from "./auth/bootstrap-rbac.ts";
import { copyOf } from "./store/copies.ts";
import { keyOf } from "./store/keys.ts";
import type { ObjectStore } from "./store/object-store.types.ts";
import type { InternalApi, ResourceKey, ResourceRegistry } from "./types.ts";

const NAMESPACES: ResourceKey = { group: "", plural: "namespaces" };
const RBAC_GROUP = "rbac.authorization.k8s.io";
const RBAC_PLURALS: Readonly<Record<string, string>> = {
  ClusterRole: "clusterroles",
  ClusterRoleBinding: "clusterrolebindings",
  Role: "roles",
  RoleBinding: "rolebindings",
};
const MANAGER = "kube-apiserver";

const DEFAULT_NAMESPACES: readonly Unstructured[] = ["default", "kube-system", "kube-public", "kube-node-lease"].map(
  (name) => ({ apiVersion: "v1", kind: "Namespace", metadata: { name } }),
);

const SERVICES: ResourceKey = { group: "", plural: "services" };

/**
 * The Service through which tools look for the API. No address is allocated here, so that it is headless: who asks for it learns that
 * the API is there, and nothing forwards to it.
 */
const KUBERNETES_SERVICE: Unstructured = {
  apiVersion: "v1",
  kind: "Service",
  metadata: {
    name: "kubernetes",
    namespace: "default",
    labels: { component: "apiserver", provider: "kubernetes" },
  },
  spec: {
    type: "ClusterIP",
    clusterIP: "None",
    ports: [{ name: "https", port: 443, targetPort: 6443, protocol: "TCP" }],
    sessionAffinity: "None",
  },
};

/** What the defaults are created with. */
export interface BootstrapDeps {
  readonly store: ObjectStore;
  readonly api: InternalApi;
  readonly clock: Clock;
  readonly random: Random;
}

/**
 * What the pipeline made of each default the first time. Later servers of the process store a copy with a uid and time of their own:
 * with a thousand simulated clusters, running some eighty objects through the pipeline for each would be most of their cost.
 */
const templates = new WeakMap<Unstructured, Unstructured>();

/** Creates what every cluster has from its first moment, as far as it is missing; each group in one commit. */
export async function createDefaultObjects(deps: BootstrapDeps, rbac: boolean): Promise<void> {
  await Promise.all(DEFAULT_NAMESPACES.map((object) => ensure(deps, NAMESPACES, object)));
  await ensure(deps, SERVICES, KUBERNETES_SERVICE);
  if (!rbac) return;
  await Promise.all(
    bootstrapRbac().map((object) => {
      const plural = RBAC_PLURALS[object.kind] ?? "";
      return ensure(deps, { group: RBAC_GROUP, plural }, object);
    }),
  );
}

/**
 * Stores objects of built-in kinds as far as they are missing. What is the same object in many servers goes through the pipeline only
 * once, so a simulated cluster costs little more than the memory of its content.
 */
export async function seedObjects(
  deps: BootstrapDeps,
  types: ResourceRegistry,
  objects: readonly Unstructured[],
): Promise<void> {
  await Promise.all(
    objects.map((object) => {
      const { group, version } = parseGroupVersion(object.apiVersion);
      const type = types.findKind(group, version, object.kind);
      if (type === undefined) throw new Error(`${object.apiVersion} ${object.kind} is not served`);
      return ensure(deps, type, object);
    }),
  );
}

async function ensure(deps: BootstrapDeps, type: ResourceKey, object: Unstructured): Promise<void> {
  const { namespace = "", name = "" } = object.metadata;
  const key = keyOf(type.group, type.plural, namespace, name);
  if (deps.store.get(key) !== undefined) return;
  const template = templates.get(object);
  if (template === undefined) {
    try {
      templates.set(object, await deps.api.create(type, object, MANAGER));
    } catch (error) {
      if (!(error instanceof ApiError && error.reason === "AlreadyExists")) throw error;
    }
    return;
  }
  const copy = copyOf(template, { uid: randomUuid(deps.random), time: formatTime(deps.clock.now()) });
  await deps.store.mutate(key, (current) => (current === undefined ? { type: "put", object: copy } : { type: "none" }));
}
