import { type Condition, findCondition, formatAge, type KubeObject, type Unstructured } from "@capstan/apimachinery";
import { Cluster, type ContractReference, conditionsOf, Machine, MachineDeployment } from "@capstan/capi";
import type { Client } from "@capstan/runtime";
import type { TreeNode } from "./tree.ts";

/** Reads a Cluster and all that belongs to it, as the tree that `describe` shows. */
export async function clusterTree(
  client: Client,
  namespace: string,
  name: string,
  nowMs: number,
): Promise<TreeNode | undefined> {
  const cluster = await client.get(Cluster, { namespace, name });
  if (cluster === undefined) return undefined;
  const ofCluster = { namespace, labelSelector: `cluster.x-k8s.io/cluster-name=${name}` };
  const [infrastructure, controlPlane, deployments, machines] = await Promise.all([
    readReference(client, namespace, cluster.spec?.infrastructureRef),
    readReference(client, namespace, cluster.spec?.controlPlaneRef),
    client.list(MachineDeployment, ofCluster),
    client.list(Machine, ofCluster),
  ]);
  const machineNode = (machine: Machine): TreeNode => node(machine, ["Ready"], nowMs, []);
  const deploymentNodes = deployments.items.map((deployment) => {
    const own = machines.items.filter(
      (machine) => machine.metadata.labels?.["cluster.x-k8s.io/deployment-name"] === deployment.metadata.name,
    );
    return node(deployment, ["Available"], nowMs, own.map(machineNode));
  });
  const standalone = machines.items.filter(
    (machine) => machine.metadata.labels?.["cluster.x-k8s.io/deployment-name"] === undefined,
  );
  const workers = [...deploymentNodes, ...standalone.map(machineNode)];
  return node(cluster, ["Available"], nowMs, [
    ...(infrastructure === undefined ? [] : [role("ClusterInfrastructure", infrastructure, nowMs)]),
    ...(controlPlane === undefined ? [] : [role("ControlPlane", controlPlane, nowMs)]),
    ...(workers.length > 0 ? [{ name: "Workers", cells: [], children: workers }] : []),
  ]);
}

async function readReference(
  client: Client,
  namespace: string,
  reference: ContractReference | undefined,
): Promise<Unstructured | undefined> {
  if (reference === undefined) return undefined;
  const kind = await client.mapper.preferred(reference.apiGroup, reference.kind);
  return await client.get(kind, { namespace, name: reference.name });
}

function role(title: string, object: KubeObject, nowMs: number): TreeNode {
  const made = node(object, ["Available", "Ready"], nowMs, []);
  return { ...made, name: `${title} - ${made.name}` };
}

/** One line: the first of the named conditions that the object has. */
function node(object: KubeObject, types: string[], nowMs: number, children: TreeNode[]): TreeNode {
  const conditions = conditionsOf(object as { status?: unknown });
  const condition = types.map((type) => findCondition(conditions, type)).find((found) => found !== undefined);
  return {
    name: `${object.kind}/${object.metadata.name ?? ""}`,
    cells: cells(condition, types[0] ?? "", nowMs),
    children,
  };
}

function cells(condition: Condition | undefined, type: string, nowMs: number): string[] {
  if (condition === undefined) return [`${type}: -`, "", "", "no condition reported yet"];
  const since = formatAge(nowMs - Date.parse(condition.lastTransitionTime));
  return [
    `${condition.type}: ${condition.status}`,
    condition.reason,
    since,
    condition.status === "True" ? "" : condition.message,
  ];
}
