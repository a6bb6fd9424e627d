import type { KubeObject, Unstructured } from "@capstan/apimachinery";
import {
  CLUSTER_NAME_LABEL,
  CONTROL_PLANE_LABEL,
  type ContractReference,
  DEPLOYMENT_NAME_LABEL,
  field,
  hostKinds,
  INFRASTRUCTURE_GROUP,
  type ProviderDescription,
  SET_NAME_LABEL,
} from "@capstan/capi";
import type { Client, Kind } from "@capstan/runtime";
import { Cluster, Machine, MachineDeployment, MachinePool, MachineSet, WorkerPool } from "../kinds/kinds.ts";
import { groupedTypes } from "../kinds/resource-types.ts";
import { clusterCounts, machineCounts, replicaCounts, type TreeObject, toNode } from "./tree-object.ts";

/** Options of reading a cluster's tree. */
export interface TreeOptions {
  /** The time, by which silent hosts are recognised. */
  nowMs: number;
  /** Providers whose hosts are part of the tree. */
  providers: readonly ProviderDescription[];
  /** With MachineSets between deployments and Machines. */
  machineSets?: boolean;
}

/** Where to read, and which kinds are served there. */
interface Scope {
  client: Client;
  namespace: string;
  types: readonly Kind[];
  nowMs: number;
  providers: readonly ProviderDescription[];
}

/** Reads a Cluster and the objects that belong to it; undefined when the Cluster does not exist. */
export async function readClusterTree(
  client: Client,
  namespace: string,
  name: string,
  options: TreeOptions,
): Promise<TreeObject | undefined> {
  const ofCluster = { namespace, labelSelector: `${CLUSTER_NAME_LABEL}=${name}` };
  // Two rounds of requests: objects that can be found by the cluster's name, then the objects they refer to.
  const [cluster, types, deployments, machineSets, machinePools, machines, workerPools] = await Promise.all([
    client.get(Cluster, { namespace, name }),
    groupedTypes(client),
    client.list(MachineDeployment, ofCluster).then(({ items }) => items),
    options.machineSets === true ? client.list(MachineSet, ofCluster).then(({ items }) => items) : [],
    listIfServed(client, MachinePool, ofCluster),
    client.list(Machine, ofCluster).then(({ items }) => items),
    listIfServed(client, WorkerPool, { namespace }),
  ]);
  if (cluster === undefined) return undefined;
  const { nowMs, providers } = options;
  const scope: Scope = { client, namespace, types, nowMs, providers };
  const [infrastructures, controlPlane, machineNodes] = await Promise.all([
    readInfrastructures(scope, cluster),
    readReference(scope, cluster.spec?.controlPlaneRef),
    readMachines(scope, ofCluster, machines),
  ]);
  const nodesOf = (chosen: Machine[]): TreeObject[] => chosen.flatMap((machine) => machineNodes.get(machine) ?? []);
  const labelled = (label: string, value: string): Machine[] =>
    machines.filter((machine) => machine.metadata.labels?.[label] === value);
  const deploymentNode = (deployment: MachineDeployment): TreeObject => {
    const ownName = deployment.metadata.name ?? "";
    const sets = machineSets.filter((set) => set.metadata.labels?.[DEPLOYMENT_NAME_LABEL] === ownName);
    const children =
      options.machineSets === true
        ? sets.map((set) =>
            toNode(set, scope, nodesOf(labelled(SET_NAME_LABEL, set.metadata.name ?? "")), replicaCounts(set)),
          )
        : nodesOf(labelled(DEPLOYMENT_NAME_LABEL, ownName));
    return toNode(deployment, scope, children, replicaCounts(deployment));
  };
  const pools = workerPools.filter((pool) => pool.spec.clusterName === name);
  const ownedByPool = new Set<MachineDeployment>();
  const poolNodes = pools.map((pool) => {
    const own = deployments.filter((deployment) =>
      (deployment.metadata.ownerReferences ?? []).some(({ uid }) => uid === pool.metadata.uid),
    );
    for (const deployment of own) ownedByPool.add(deployment);
    return toNode(pool, scope, own.map(deploymentNode), replicaCounts(pool));
  });
  const loose = machines.filter(
    (machine) =>
      machine.metadata.labels?.[DEPLOYMENT_NAME_LABEL] === undefined &&
      machine.metadata.labels?.[CONTROL_PLANE_LABEL] === undefined,
  );
  const workers = [
    ...poolNodes,
    ...deployments.filter((deployment) => !ownedByPool.has(deployment)).map(deploymentNode),
    ...machinePools.map((pool) => toNode(pool, scope, [], replicaCounts(pool))),
    ...nodesOf(loose),
  ];
  const planeMachines = nodesOf(
    machines.filter((machine) => machine.metadata.labels?.[CONTROL_PLANE_LABEL] !== undefined),
  );
  return toNode(
    cluster,
    scope,
    [
      ...infrastructures,
      ...(controlPlane === undefined
        ? planeMachines
        : [{ ...toNode(controlPlane, scope, planeMachines, replicaCounts(controlPlane)), role: "ControlPlane" }]),
      ...workers.map((worker) => ({ ...worker, role: "Workers" })),
    ],
    clusterCounts(cluster),
  );
}

/** The infrastructure of a cluster: the one it references, with the parts of a MetaCluster below it, and those next to it. */
async function readInfrastructures(scope: Scope, cluster: Cluster): Promise<TreeObject[]> {
  const { client, namespace, types } = scope;
  const labelSelector = `${CLUSTER_NAME_LABEL}=${cluster.metadata.name ?? ""}`;
  // By the contract the kinds of infrastructure clusters end in Cluster.
  const kinds = types.filter(({ group, kind }) => group === INFRASTRUCTURE_GROUP && kind.endsWith("Cluster"));
  const [main, ...lists] = await Promise.all([
    readReference(scope, cluster.spec?.infrastructureRef),
    ...kinds.map((kind) => listIfServed(client, kind, { namespace, labelSelector })),
  ]);
  const labelled = lists.flat();
  const parts = (field(main, "spec", "infrastructureRefs") ?? []) as ContractReference[];
  const children = await Promise.all(
    parts.map(
      async (part) =>
        labelled.find(({ kind, metadata }) => kind === part.kind && metadata.name === part.name) ??
        (await readReference(scope, part)),
    ),
  );
  const shown = new Set([main, ...children].map((object) => `${object?.kind}/${object?.metadata.name}`));
  const others = labelled.filter((object) => !shown.has(`${object.kind}/${object.metadata.name}`));
  const below = children.flatMap((child) => (child === undefined ? [] : [toNode(child, scope, [])]));
  return [
    ...(main === undefined ? [] : [toNode(main, scope, below)]),
    ...others.map((object) => toNode(object, scope, [])),
  ].map((node) => ({ ...node, role: "ClusterInfrastructure" }));
}

/** Machines with their parts, which are read with one list per kind, not one by one. */
async function readMachines(
  scope: Scope,
  ofCluster: { namespace: string; labelSelector: string },
  machines: readonly Machine[],
): Promise<Map<Machine, TreeObject[]>> {
  const references = machines.flatMap((machine) => [
    machine.spec.infrastructureRef,
    ...(machine.spec.bootstrap.configRef === undefined ? [] : [machine.spec.bootstrap.configRef]),
  ]);
  const kinds = new Map(references.map(({ apiGroup, kind }) => [`${apiGroup}/${kind}`, { apiGroup, kind }]));
  const parts = new Map<string, Unstructured>();
  const [hosts] = await Promise.all([
    readHosts(scope, kinds),
    ...[...kinds.values()].map(async ({ apiGroup, kind }) => {
      const found = await kindOf(scope, apiGroup, kind);
      if (found === undefined) return;
      const listed = await listIfServed(scope.client, found, ofCluster);
      for (const part of listed) parts.set(`${kind}/${part.metadata.name}`, part);
    }),
  ]);
  const partNode = (reference: ContractReference | undefined, role: string): TreeObject[] => {
    const part = reference === undefined ? undefined : parts.get(`${reference.kind}/${reference.name}`);
    const host = reference === undefined ? undefined : hosts.get(`${reference.kind}/${reference.name}`);
    return part === undefined ? [] : [{ ...toNode(part, scope, host === undefined ? [] : [host]), role }];
  };
  return new Map(
    machines.map((machine) => {
      const children = [
        ...partNode(machine.spec.infrastructureRef, "MachineInfrastructure"),
        ...partNode(machine.spec.bootstrap.configRef, "BootstrapConfig"),
      ];
      return [machine, [toNode(machine, scope, children, machineCounts(machine))]];
    }),
  );
}

/** Hosts by the machine they serve: a problem of a host explains the problem of its machine. */
async function readHosts(scope: Scope, kinds: ReadonlyMap<string, unknown>): Promise<Map<string, TreeObject>> {
  const wanted = hostKinds(scope.providers).filter(({ claimedBy }) =>
    kinds.has(`${INFRASTRUCTURE_GROUP}/${claimedBy.kind}`),
  );
  const found = await Promise.all(
    wanted.map(async ({ claimedBy: { kind: machine, field: claim }, group, kind }) => {
      const ref = await kindOf(scope, group, kind);
      const hosts = ref === undefined ? [] : await listIfServed(scope.client, ref, { namespace: scope.namespace });
      return hosts.flatMap((host): [string, TreeObject][] => {
        const name = field(host, "spec", claim, "name");
        return typeof name === "string" ? [[`${machine}/${name}`, { ...toNode(host, scope, []), role: "Host" }]] : [];
      });
    }),
  );
  return new Map(found.flat());
}

/** The objects of a kind; none when the server does not serve it, as upstream's core does not serve ours. */
async function listIfServed<T extends KubeObject>(
  client: Client,
  kind: Kind<T>,
  options: { namespace: string; labelSelector?: string },
): Promise<T[]> {
  try {
    return (await client.list(kind, options)).items;
  } catch (error) {
    if ((error as { reason?: string }).reason === "NotFound") return [];
    throw error;
  }
}

async function readReference(
  scope: Scope,
  reference: ContractReference | undefined,
): Promise<Unstructured | undefined> {
  if (reference === undefined) return undefined;
  const kind = await kindOf(scope, reference.apiGroup, reference.kind);
  if (kind === undefined) return undefined;
  return await scope.client.get(kind, { namespace: scope.namespace, name: reference.name });
}

/** Where a kind is served. Without aggregated discovery, the group's own discovery document is read. */
async function kindOf({ client, types }: Scope, group: string, kind: string): Promise<Kind | undefined> {
  if (types.length > 0) return types.find((type) => type.group === group && type.kind === kind);
  return await client.mapper.preferred(group, kind).catch(() => undefined);
}
