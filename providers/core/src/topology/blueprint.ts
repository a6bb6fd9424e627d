import { parseGroupVersion } from "@capstan/apimachinery";
import {
  type Cluster,
  type ClusterClass,
  type ContractObject,
  type ContractVersion,
  MachineDeployment,
  MachinePool,
  watchKind,
} from "@capstan/capi";
import { type Cache, type Kind, kindRef, type ReconcileContext, type Request } from "@capstan/runtime";
import { BY_CLUSTER, clusterKey } from "../cluster/indexes.ts";
import { TOPOLOGY_DEPLOYMENT_LABEL, TOPOLOGY_OWNED_LABEL, TOPOLOGY_POOL_LABEL } from "./constants.ts";
import { clustersOfTemplate } from "./indexes.ts";

/** The `spec.topology` section of a Cluster. */
export type Topology = NonNullable<NonNullable<Cluster["spec"]>["topology"]>;
/** A MachineDeployment class of a ClusterClass. */
export type DeploymentClass = NonNullable<NonNullable<ClusterClass["spec"]["workers"]>["machineDeployments"]>[number];
/** A MachinePool class of a ClusterClass. */
export type PoolClass = NonNullable<NonNullable<ClusterClass["spec"]["workers"]>["machinePools"]>[number];
/** A reference from a ClusterClass to a template. */
export type TemplateReference = ClusterClass["spec"]["infrastructure"]["templateRef"];

/** A template, its kind and its contract version. */
export interface Template {
  object: ContractObject;
  kind: Kind<ContractObject>;
  contract: ContractVersion;
}

/** Everything that the desired state of a topology is computed from. */
export interface Blueprint {
  cluster: Cluster;
  topology: Topology;
  class: ClusterClass;
  infrastructure: Template;
  controlPlane: Template;
  controlPlaneMachine: Template | undefined;
  deployments: Map<string, { class: DeploymentClass; bootstrap: Template; infrastructure: Template }>;
  pools: Map<string, { class: PoolClass; bootstrap: Template; infrastructure: Template }>;
}

/** The existing objects of a topology. */
export interface CurrentState {
  controlPlane: { object: ContractObject; contract: ContractVersion } | undefined;
  infrastructure: ContractObject | undefined;
  /** By the names they have in the topology. */
  deployments: Map<string, MachineDeployment>;
  pools: Map<string, MachinePool>;
}

/** Thrown for an error in a ClusterClass or topology that the user has to fix. */
export class TopologyProblem extends Error {
  constructor(message: string) {
    super(message);
    this.name = "TopologyProblem";
  }
}

/** Reads all templates that the ClusterClass references and starts watches of their kinds. */
export async function readBlueprint(
  cluster: Cluster,
  topology: Topology,
  clusterClass: ClusterClass,
  context: ReconcileContext,
): Promise<Blueprint> {
  const namespace = clusterClass.metadata.namespace ?? "";
  const read = (reference: TemplateReference): Promise<Template> => readTemplate(reference, namespace, context);
  const { spec } = clusterClass;
  const deployments: Blueprint["deployments"] = new Map();
  for (const one of spec.workers?.machineDeployments ?? [])
    deployments.set(one.class, {
      class: one,
      bootstrap: await read(one.bootstrap.templateRef),
      infrastructure: await read(one.infrastructure.templateRef),
    });
  const pools: Blueprint["pools"] = new Map();
  for (const one of spec.workers?.machinePools ?? [])
    pools.set(one.class, {
      class: one,
      bootstrap: await read(one.bootstrap.templateRef),
      infrastructure: await read(one.infrastructure.templateRef),
    });
  const machine = spec.controlPlane.machineInfrastructure?.templateRef;
  return {
    cluster,
    topology,
    class: clusterClass,
    infrastructure: await read(spec.infrastructure.templateRef),
    controlPlane: await read(spec.controlPlane.templateRef),
    controlPlaneMachine: machine === undefined ? undefined : await read(machine),
    deployments,
    pools,
  };
}

async function readTemplate(
  reference: TemplateReference,
  namespace: string,
  context: ReconcileContext,
): Promise<Template> {
  const { group: apiGroup, version } = parseGroupVersion(reference.apiVersion);
  const resolved = await watchKind(context, { apiGroup, kind: reference.kind }, clustersOfTemplate);
  if ("problem" in resolved) throw new TopologyProblem(resolved.problem);
  const named = inVersion(resolved, version);
  if (named.kind !== resolved.kind) await context.watch(named.kind, clustersOfTemplate);
  const object = context.cache.get(named.kind, { namespace, name: reference.name });
  if (object === undefined)
    throw new TopologyProblem(`${reference.kind} ${namespace}/${reference.name} does not exist; create it`);
  return { object, ...named };
}

type Resolved = Exclude<Awaited<ReturnType<typeof watchKind>>, { problem: string }>;

/** One value per kind and version, so that caches keyed by it hit. */
const otherVersions = new WeakMap<Kind<ContractObject>, Map<string, Kind<ContractObject>>>();

/** A kind in the version that the class names, for which its patches are written; in our own if that is no longer served. */
function inVersion({ kind, contract, crd }: Resolved, version: string): Pick<Template, "kind" | "contract"> {
  const served = crd.spec.versions.some((one) => one.name === version && one.served);
  if (version === kind.version || !served) return { kind, contract };
  const speaks = (one: ContractVersion): boolean =>
    crd.metadata.labels?.[`cluster.x-k8s.io/${one}`]?.split("_").includes(version) === true;
  let others = otherVersions.get(kind);
  if (others === undefined) otherVersions.set(kind, (others = new Map()));
  const other = others.get(version) ?? kindRef<ContractObject>({ ...kind, version });
  others.set(version, other);
  return {
    kind: other,
    contract: (["v1beta2", "v1beta1"] as const).find(speaks) ?? contract,
  };
}

/** Reads the existing objects of a Cluster's topology. */
export async function readCurrent(cluster: Cluster, context: ReconcileContext): Promise<CurrentState> {
  const { namespace = "", name = "" } = cluster.metadata;
  const key = clusterKey(namespace, name);
  const owned = (object: { metadata: { labels?: Record<string, string> } }): boolean =>
    object.metadata.labels?.[TOPOLOGY_OWNED_LABEL] !== undefined;
  const { cache } = context;
  const controlPlane = await readReferenced(cluster.spec?.controlPlaneRef, namespace, context);
  const infrastructure = await readReferenced(cluster.spec?.infrastructureRef, namespace, context);
  return {
    controlPlane,
    infrastructure: infrastructure?.object,
    deployments: new Map(
      cache
        .byIndex(MachineDeployment, BY_CLUSTER, key)
        .filter(owned)
        .map((object) => [object.metadata.labels?.[TOPOLOGY_DEPLOYMENT_LABEL] ?? "", object]),
    ),
    pools: new Map(
      cache
        .byIndex(MachinePool, BY_CLUSTER, key)
        .filter(owned)
        .map((object) => [object.metadata.labels?.[TOPOLOGY_POOL_LABEL] ?? "", object]),
    ),
  };
}

async function readReferenced(
  reference: { apiGroup: string; kind: string; name: string } | undefined,
  namespace: string,
  context: ReconcileContext,
): Promise<{ object: ContractObject; contract: ContractVersion } | undefined> {
  if (reference === undefined) return undefined;
  const resolved = await watchKind(context, reference, clusterOfLabel);
  if ("problem" in resolved) throw new TopologyProblem(resolved.problem);
  const object = context.cache.get(resolved.kind, { namespace, name: reference.name });
  return object === undefined ? undefined : { object, contract: resolved.contract };
}

function clusterOfLabel(object: ContractObject, _cache: Cache): Request[] {
  const cluster = object.metadata.labels?.["cluster.x-k8s.io/cluster-name"];
  return cluster === undefined ? [] : [{ namespace: object.metadata.namespace ?? "", name: cluster }];
}
