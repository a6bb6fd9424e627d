import { findCondition, isReason, type KubeObject, parseGroupVersion } from "@capstan/apimachinery";
import {
  CLUSTER_NAME_LABEL,
  Cluster,
  type ConditionInput,
  type ContractObject,
  type ContractVersion,
  CustomResourceDefinition,
  conditionsOf,
  field,
  infrastructureProvisioned,
  MANAGED_BY_ANNOTATION,
  mirror,
  referenceKey,
  resolveKind,
} from "@capstan/capi";
import type { Cache, Kind, ReconcileContext, Request } from "@capstan/runtime";
import { BY_INFRASTRUCTURE_NAME, BY_REFERENCE, clusterKey } from "./indexes.ts";

const GROUP = "infrastructure.cluster.x-k8s.io";
/** Candidates by the cluster they name, or by their own name if they name none. */
const BY_CLUSTER_OR_NAME = "secondary";

/** An infrastructure cluster in addition to the one in Cluster.spec.infrastructureRef. */
export interface SecondaryInfrastructure {
  kind: Kind<ContractObject>;
  object: ContractObject;
  contract: ContractVersion;
}

/** Finds the infrastructure clusters that belong to a Cluster in addition to its infrastructureRef. */
export async function readSecondaries(cluster: Cluster, context: ReconcileContext): Promise<SecondaryInfrastructure[]> {
  const found: SecondaryInfrastructure[] = [];
  for (const { kind, contract } of infraClusterKinds(context.cache)) {
    if (!(await watched(kind, context))) continue;
    context.cache.addIndex(kind, BY_CLUSTER_OR_NAME, (object) => [candidateKey(object)]);
    for (const object of candidates(cluster, kind, context.cache))
      if (isSecondary(cluster, object)) found.push({ kind, object, contract });
  }
  return found;
}

/** A kind that is just coming or going must not keep Clusters from being worked on. */
async function watched(kind: Kind<ContractObject>, context: ReconcileContext): Promise<boolean> {
  try {
    await context.watch(kind, clustersOfInfrastructure);
    return true;
  } catch (error) {
    if (isReason(error, "NotFound", "Forbidden", "MethodNotAllowed")) return false;
    throw error;
  }
}

interface InfraClusterKind {
  kind: Kind<ContractObject>;
  contract: ContractVersion;
}

/** Kinds of infrastructure clusters: of the group, speaking the contract, with an endpoint in their spec. */
function infraClusterKinds(cache: Cache): InfraClusterKind[] {
  return cache.list(CustomResourceDefinition).flatMap((crd) => {
    if (!mayBeInfraCluster(crd)) return [];
    const resolved = resolveKind(cache, { apiGroup: crd.spec.group, kind: crd.spec.names.kind });
    return "problem" in resolved ? [] : [{ kind: resolved.kind, contract: resolved.contract }];
  });
}

/** Reports whether a CRD may define infrastructure clusters. */
export function mayBeInfraCluster(crd: CustomResourceDefinition): boolean {
  if (crd.spec.group !== GROUP || crd.spec.scope !== "Namespaced") return false;
  return crd.spec.versions.some(
    (version) =>
      version.served &&
      field(version.schema?.openAPIV3Schema, "properties", "spec", "properties", "controlPlaneEndpoint") !== undefined,
  );
}

function candidateKey({ metadata }: KubeObject): string {
  const { namespace = "", name = "", labels } = metadata;
  const cluster = labels?.[CLUSTER_NAME_LABEL];
  return cluster === undefined ? `name/${namespace}/${name}` : `cluster/${namespace}/${cluster}`;
}

function candidates(cluster: Cluster, kind: Kind<ContractObject>, cache: Cache): ContractObject[] {
  const { namespace = "", name = "" } = cluster.metadata;
  const primary = cluster.spec?.infrastructureRef;
  const labelled = cache.byIndex(kind, BY_CLUSTER_OR_NAME, `cluster/${namespace}/${name}`);
  if (primary === undefined) return labelled;
  return [...labelled, ...cache.byIndex(kind, BY_CLUSTER_OR_NAME, `name/${namespace}/${primary.name}`)];
}

/** Reports whether an infrastructure cluster belongs to a Cluster as a secondary: by label, or by the name of the primary one. */
export function isSecondary(cluster: Cluster, object: ContractObject): boolean {
  const primary = cluster.spec?.infrastructureRef;
  const { metadata, kind, apiVersion } = object;
  if (
    primary?.kind === kind &&
    primary.name === metadata.name &&
    primary.apiGroup === parseGroupVersion(apiVersion).group
  )
    return false;
  const owners = metadata.ownerReferences ?? [];
  if (owners.some((owner) => owner.controller === true)) return false;
  if (metadata.annotations?.[MANAGED_BY_ANNOTATION] !== undefined) return false;
  const named = metadata.labels?.[CLUSTER_NAME_LABEL];
  if (named !== undefined) return named === cluster.metadata.name;
  const ofAnother = owners.some((owner) => owner.kind === Cluster.kind && owner.uid !== cluster.metadata.uid);
  return primary !== undefined && metadata.name === primary.name && !ofAnother;
}

/** Returns the Clusters that an infrastructure object may belong to: by reference, by label, or by its name. */
export function clustersOfInfrastructure(object: ContractObject, cache: Cache): Request[] {
  if (!cache.synced(Cluster)) return [];
  const { namespace = "", name = "", labels } = object.metadata;
  const apiGroup = parseGroupVersion(object.apiVersion).group;
  const referring = cache.byIndex(
    Cluster,
    BY_REFERENCE,
    referenceKey(namespace, { apiGroup, kind: object.kind, name }),
  );
  const named = labels?.[CLUSTER_NAME_LABEL];
  const neighbours =
    named === undefined ? cache.byIndex(Cluster, BY_INFRASTRUCTURE_NAME, clusterKey(namespace, name)) : [];
  return [
    ...[...referring, ...neighbours].map(({ metadata }) => ({ namespace, name: metadata.name ?? "" })),
    ...(named === undefined ? [] : [{ namespace, name: named }]),
  ];
}

/** Computes a condition with the readiness of a secondary infrastructure, named after it. */
export function secondaryCondition({ object, contract }: SecondaryInfrastructure): ConditionInput {
  const type = `${object.kind} ${object.metadata.name}`;
  const ready = findCondition(conditionsOf(object), "Ready");
  return mirror(
    ready,
    type,
    infrastructureProvisioned(object, contract)
      ? { type, status: "True", reason: "Ready", message: "" }
      : { type, status: "False", reason: "NotReady", message: `${type} is not provisioned yet` },
  );
}
