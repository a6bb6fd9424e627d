import type { Unstructured } from "@capstan/apimachinery";
import type { Cluster } from "@capstan/capi";
import type { Client } from "@capstan/runtime";

/** A cluster that nothing works on. */
export function pausedCluster(name: string): Cluster {
  return {
    apiVersion: "cluster.x-k8s.io/v1beta2",
    kind: "Cluster",
    metadata: { namespace: "default", name },
    spec: {
      paused: true,
      infrastructureRef: { apiGroup: "infrastructure.cluster.x-k8s.io", kind: "MemoryCluster", name },
    },
  };
}

/** A token that may read everything of clusters and change nothing. */
export async function readOnlyToken(client: Client): Promise<string> {
  const rbac = "rbac.authorization.k8s.io";
  const account: Unstructured = {
    apiVersion: "v1",
    kind: "ServiceAccount",
    metadata: { namespace: "default", name: "reader" },
  };
  const groups = [
    "cluster.x-k8s.io",
    "infrastructure.cluster.x-k8s.io",
    "controlplane.cluster.x-k8s.io",
    "capstan.dev",
  ];
  await client.create(account);
  await client.create({
    apiVersion: `${rbac}/v1`,
    kind: "ClusterRole",
    metadata: { name: "reader" },
    rules: [{ apiGroups: groups, resources: ["*"], verbs: ["get", "list", "watch"] }],
  } as Unstructured);
  await client.create({
    apiVersion: `${rbac}/v1`,
    kind: "ClusterRoleBinding",
    metadata: { name: "reader" },
    roleRef: { apiGroup: rbac, kind: "ClusterRole", name: "reader" },
    subjects: [{ kind: "ServiceAccount", namespace: "default", name: "reader" }],
  } as Unstructured);
  const { body } = await client.transport.request({
    method: "POST",
    path: "/api/v1/namespaces/default/serviceaccounts/reader/token",
    body: { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", metadata: {}, spec: {} },
  });
  return (body as { status: { token: string } }).status.token;
}
