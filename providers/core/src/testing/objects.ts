import type { Unstructured } from "@capstan/apimachinery";
import { Cluster, Machine } from "@capstan/capi";
import type { Client } from "@capstan/runtime";

export const NAMESPACE = "default";

/** A condition that has held since a time. */
export function since(type: string, status: string, lastTransitionTime: string): object {
  return { type, status, reason: "R", message: "", lastTransitionTime };
}

/** Creates an object and, if it has one, its status. */
export async function put(client: Client, object: Unstructured): Promise<Unstructured> {
  const { status, ...rest } = object;
  const created = await client.create(rest as Unstructured);
  return status === undefined ? created : await client.patchStatus(created, { status });
}

/** A Cluster whose infrastructure is ready and whose control plane is initialized. */
export function readyCluster(name: string, time: string, labels: Record<string, string> = {}): Unstructured {
  return {
    apiVersion: Cluster.apiVersion,
    kind: Cluster.kind,
    metadata: { namespace: NAMESPACE, name, labels },
    spec: { controlPlaneEndpoint: { host: "h", port: 6443 } },
    status: {
      initialization: { infrastructureProvisioned: true, controlPlaneInitialized: true },
      conditions: [since("InfrastructureReady", "True", time), since("ControlPlaneInitialized", "True", time)],
    },
  };
}

/** A Machine of a cluster, with a Node if given. */
export function machine(
  cluster: string,
  name: string,
  node?: string,
  labels: Record<string, string> = {},
): Unstructured {
  return {
    apiVersion: Machine.apiVersion,
    kind: Machine.kind,
    metadata: { namespace: NAMESPACE, name, labels: { "cluster.x-k8s.io/cluster-name": cluster, ...labels } },
    spec: {
      clusterName: cluster,
      bootstrap: { dataSecretName: "x" },
      infrastructureRef: { apiGroup: "infrastructure.cluster.x-k8s.io", kind: "TestMachine", name },
    },
    ...(node === undefined ? {} : { status: { nodeRef: { name: node } } }),
  };
}
