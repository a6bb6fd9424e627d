import type { KubeObject, Unstructured } from "@capstan/apimachinery";
import {
  Cluster,
  type ContractReference,
  conditionsOf,
  Machine,
  MachineDeployment,
  type ObjectNode,
} from "@capstan/capi";
import type { Client } from "@capstan/runtime";

const CLUSTER_NAME = "cluster.x-k8s.io/cluster-name";
const DEPLOYMENT_NAME = "cluster.x-k8s.io/deployment-name";

/** Reads a Cluster and all that belongs to it; undefined when there is no such Cluster. */
export async function readClusterTree(
  client: Client,
  namespace: string,
  name: string,
): Promise<ObjectNode | undefined> {
  const cluster = await client.get(Cluster, { namespace, name });
  if (cluster === undefined) return undefined;
  const ofCluster = { namespace, labelSelector: `${CLUSTER_NAME}=${name}` };
  const [infrastructure, controlPlane, deployments, machines] = await Promise.all([
    readReference(client, namespace, cluster.spec?.infrastructureRef),
    readReference(client, namespace, cluster.spec?.controlPlaneRef),
    client.list(MachineDeployment, ofCluster),
    client.list(Machine, ofCluster),
  ]);
  const machineNodes = new Map<string, ObjectNode[]>();
  for (const machine of machines.items) {
    const deployment = machine.metadata.labels?.[DEPLOYMENT_NAME] ?? "";
    machineNodes.set(deployment, [
      ...(machineNodes.get(deployment) ?? []),
      await machineNode(client, namespace, machine),
    ]);
  }
  const workers = [
    ...deployments.items.map((deployment) =>
      toNode(deployment, machineNodes.get(deployment.metadata.name ?? "") ?? []),
    ),
    ...(machineNodes.get("") ?? []),
  ];
  return toNode(cluster, [
    ...(infrastructure === undefined ? [] : [{ ...toNode(infrastructure, []), role: "ClusterInfrastructure" }]),
    ...(controlPlane === undefined ? [] : [{ ...toNode(controlPlane, []), role: "ControlPlane" }]),
    ...workers.map((worker) => ({ ...worker, role: "Workers" })),
  ]);
}

async function machineNode(client: Client, namespace: string, machine: Machine): Promise<ObjectNode> {
  const [infrastructure, bootstrap] = await Promise.all([
    readReference(client, namespace, machine.spec.infrastructureRef),
    readReference(client, namespace, machine.spec.bootstrap.configRef),
  ]);
  return toNode(machine, [
    ...(infrastructure === undefined ? [] : [{ ...toNode(infrastructure, []), role: "MachineInfrastructure" }]),
    ...(bootstrap === undefined ? [] : [{ ...toNode(bootstrap, []), role: "BootstrapConfig" }]),
  ]);
}

async function readReference(
  client: Client,
  namespace: string,
  reference: ContractReference | undefined,
): Promise<Unstructured | undefined> {
  if (reference === undefined) return undefined;
  const kind = await client.mapper.preferred(reference.apiGroup, reference.kind).catch(() => undefined);
  return kind === undefined ? undefined : await client.get(kind, { namespace, name: reference.name });
}

function toNode(object: KubeObject, children: ObjectNode[]): ObjectNode {
  return {
    kind: object.kind,
    name: object.metadata.name ?? "",
    conditions: conditionsOf(object as { status?: unknown }),
    deleting: object.metadata.deletionTimestamp !== undefined,
    children,
  };
}
