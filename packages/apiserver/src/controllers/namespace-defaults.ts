import { isReason, type Unstructured } from "@capstan/apimachinery";
import type { InternalApi, ResourceKey } from "../types.ts";
import type { Controller, ControllerDeps } from "./deps.ts";
import { WorkList } from "./work-list.ts";

const NAMESPACES: ResourceKey = { group: "", plural: "namespaces" };
const SERVICE_ACCOUNTS: ResourceKey = { group: "", plural: "serviceaccounts" };
const CONFIG_MAPS: ResourceKey = { group: "", plural: "configmaps" };
const ACCOUNT = "default";
const ROOT_CA = "kube-root-ca.crt";
const ROOT_CA_DESCRIPTION =
  "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.";

/** Gives every namespace its `default` ServiceAccount and the ConfigMap with the API's root certificate, and restores them. */
export function startNamespaceDefaults(api: InternalApi, deps: ControllerDeps): Controller {
  const work = new WorkList(
    deps.clock,
    (namespace) => ensureDefaults(api, deps, namespace),
    (namespace, error) => deps.log(`failed to create the default objects of namespace ${namespace}; retrying`, error),
  );
  const unsubscribe = [
    api.watch(NAMESPACES, ({ name, object, previous }) => {
      if (object !== undefined && previous === undefined) work.add(name);
    }),
    api.watch(SERVICE_ACCOUNTS, ({ namespace, name, object }) => {
      if (name === ACCOUNT && object === undefined) work.add(namespace);
    }),
  ];
  if (deps.rootCaPem !== undefined) {
    unsubscribe.push(
      api.watch(CONFIG_MAPS, ({ namespace, name, object }) => {
        if (name === ROOT_CA && (object === undefined || caOf(object) !== deps.rootCaPem)) work.add(namespace);
      }),
    );
  }
  return {
    stop: () => {
      for (const stop of unsubscribe) stop();
      work.stop();
    },
    idle: () => work.idle(),
  };
}

async function ensureDefaults(api: InternalApi, deps: ControllerDeps, name: string): Promise<void> {
  const namespace = api.get(NAMESPACES, "", name);
  if (namespace === undefined || namespace.metadata.deletionTimestamp !== undefined) return;
  try {
    await Promise.all([ensureAccount(api, name), ensureRootCa(api, deps.rootCaPem, name)]);
  } catch (error) {
    // Created by another client, or the namespace is being deleted: either way the next change triggers a new pass.
    if (!isReason(error, "AlreadyExists", "NotFound", "Forbidden")) throw error;
  }
}

async function ensureAccount(api: InternalApi, namespace: string): Promise<void> {
  if (api.get(SERVICE_ACCOUNTS, namespace, ACCOUNT) !== undefined) return;
  const account = { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: ACCOUNT, namespace } };
  await api.create(SERVICE_ACCOUNTS, account, "kube-controller-manager");
}

async function ensureRootCa(api: InternalApi, ca: string | undefined, namespace: string): Promise<void> {
  if (ca === undefined) return;
  const existing = api.get(CONFIG_MAPS, namespace, ROOT_CA);
  if (existing === undefined) {
    const annotations = { "kubernetes.io/description": ROOT_CA_DESCRIPTION };
    const metadata = { name: ROOT_CA, namespace, annotations };
    await api.create(
      CONFIG_MAPS,
      { apiVersion: "v1", kind: "ConfigMap", metadata, data: { "ca.crt": ca } },
      "kube-controller-manager",
    );
  } else if (caOf(existing) !== ca) {
    await api.update(CONFIG_MAPS, namespace, ROOT_CA, "kube-controller-manager", (object) => {
      object["data"] = { "ca.crt": ca };
    });
  }
}

function caOf(configMap: Unstructured): unknown {
  return (configMap["data"] as Record<string, unknown> | undefined)?.["ca.crt"];
}
