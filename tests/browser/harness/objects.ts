import type { Unstructured } from "@capstan/apimachinery";
import type { Cluster } from "@capstan/capi";
import type { Client } from "@capstan/runtime";

const PARALLEL = 16;

/** Creates clusters that are paused, so that they cost nothing but their place; every tenth is in trouble. */
export async function manyClusters(client: Client, count: number): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let i = next++; i < count; i = next++) {
      const name = `c-${String(i).padStart(4, "0")}`;
      const made = await client.create<Cluster>({
        apiVersion: "cluster.x-k8s.io/v1beta2",
        kind: "Cluster",
        metadata: { namespace: "default", name },
        spec: { paused: true },
      });
      const well = i % 10 !== 3;
      const condition = (type: string, good: boolean): object => ({
        type,
        status: good ? "True" : "False",
        reason: good ? "Available" : "NotEnoughHosts",
        message: good ? "" : "no free host matches; enrol one with: capstan host add NAME",
        lastTransitionTime: "2026-01-01T00:00:00Z",
      });
      await client.patchStatus<Cluster>(made, {
        status: {
          phase: "Provisioned",
          conditions: [condition("Available", well), condition("WorkersAvailable", well)],
          workers: { desiredReplicas: 3, availableReplicas: well ? 3 : 1 },
        },
      });
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, worker));
}

/** A token of somebody who may look at everything of clusters and change nothing. */
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
