import { ownerReference } from "@capstan/apimachinery";
import {
  CLUSTER_NAME_LABEL,
  type ContractReference,
  MachineDeployment,
  MachineHealthCheck,
  MachinePool,
} from "@capstan/capi";
import type { Blueprint, DeploymentClass, PoolClass, Topology } from "./blueprint.ts";
import {
  DEFER_UPGRADE_ANNOTATION,
  HOLD_UPGRADE_ANNOTATION,
  TOPOLOGY_DEPLOYMENT_LABEL,
  TOPOLOGY_OWNED_LABEL,
  TOPOLOGY_POOL_LABEL,
} from "./constants.ts";
import { merged, mergedMetadata, optionally } from "./desired-control-plane.ts";

/** A MachineDeployment in the topology of a Cluster. */
export type DeploymentTopology = NonNullable<NonNullable<Topology["workers"]>["machineDeployments"]>[number];
/** A MachinePool in the topology of a Cluster. */
export type PoolTopology = NonNullable<NonNullable<Topology["workers"]>["machinePools"]>[number];

interface WorkerParts {
  name: string;
  version: string;
  bootstrap: ContractReference;
  infrastructure: ContractReference;
}

/** Returns the labels and annotations of workers and their Machines, without the annotations that control upgrades. */
export function workerMetadata(
  blueprint: Blueprint,
  ofClass: DeploymentClass | PoolClass,
  ofTopology: DeploymentTopology | PoolTopology,
  label: string,
): { labels: Record<string, string>; annotations: Record<string, string> } {
  const { labels, annotations } = mergedMetadata(ofClass.metadata, ofTopology.metadata);
  const { [DEFER_UPGRADE_ANNOTATION]: _d, [HOLD_UPGRADE_ANNOTATION]: _h, ...kept } = annotations;
  return {
    labels: {
      ...labels,
      [CLUSTER_NAME_LABEL]: blueprint.cluster.metadata.name ?? "",
      [TOPOLOGY_OWNED_LABEL]: "",
      [label]: ofTopology.name,
    },
    annotations: kept,
  };
}

/** Computes the desired MachineDeployment: settings of the class, overridden by the topology. */
export function desiredDeployment(
  blueprint: Blueprint,
  ofClass: DeploymentClass,
  ofTopology: DeploymentTopology,
  parts: WorkerParts,
): MachineDeployment {
  const { cluster } = blueprint;
  const clusterName = cluster.metadata.name ?? "";
  const metadata = workerMetadata(blueprint, ofClass, ofTopology, TOPOLOGY_DEPLOYMENT_LABEL);
  const { order, ...timeouts } = merged(ofClass.deletion, ofTopology.deletion) ?? {};
  const maxInFlight = ofTopology.healthCheck?.remediation?.maxInFlight ?? ofClass.healthCheck?.remediation?.maxInFlight;
  return {
    apiVersion: MachineDeployment.apiVersion,
    kind: MachineDeployment.kind,
    metadata: {
      name: parts.name,
      namespace: cluster.metadata.namespace ?? "",
      ...metadata,
      ownerReferences: [ownerReference(cluster)],
    },
    spec: {
      clusterName,
      ...optionally("replicas", ofTopology.replicas),
      ...optionally("rollout", ofTopology.rollout ?? ofClass.rollout),
      ...(order === undefined ? {} : { deletion: { order } }),
      ...(maxInFlight === undefined ? {} : { remediation: { maxInFlight } }),
      selector: {
        matchLabels: {
          [CLUSTER_NAME_LABEL]: clusterName,
          [TOPOLOGY_OWNED_LABEL]: "",
          [TOPOLOGY_DEPLOYMENT_LABEL]: ofTopology.name,
        },
      },
      template: {
        metadata,
        spec: {
          clusterName,
          version: parts.version,
          bootstrap: { configRef: parts.bootstrap },
          infrastructureRef: parts.infrastructure,
          ...optionally("failureDomain", ofTopology.failureDomain ?? ofClass.failureDomain),
          ...optionally("minReadySeconds", ofTopology.minReadySeconds ?? ofClass.minReadySeconds),
          ...optionally("readinessGates", ofTopology.readinessGates ?? ofClass.readinessGates),
          ...optionally("taints", ofTopology.taints ?? ofClass.taints),
          ...(Object.keys(timeouts).length > 0 ? { deletion: timeouts } : {}),
        },
      },
    },
  } as MachineDeployment;
}

/** Computes the desired MachinePool of a topology. */
export function desiredPool(
  blueprint: Blueprint,
  ofClass: PoolClass,
  ofTopology: PoolTopology,
  parts: WorkerParts,
): MachinePool {
  const { cluster } = blueprint;
  const clusterName = cluster.metadata.name ?? "";
  const metadata = workerMetadata(blueprint, ofClass, ofTopology, TOPOLOGY_POOL_LABEL);
  return {
    apiVersion: MachinePool.apiVersion,
    kind: MachinePool.kind,
    metadata: {
      name: parts.name,
      namespace: cluster.metadata.namespace ?? "",
      ...metadata,
      ownerReferences: [ownerReference(cluster)],
    },
    spec: {
      clusterName,
      ...optionally("replicas", ofTopology.replicas),
      ...optionally("failureDomains", ofTopology.failureDomains ?? ofClass.failureDomains),
      template: {
        metadata,
        spec: {
          clusterName,
          version: parts.version,
          bootstrap: { configRef: parts.bootstrap },
          infrastructureRef: parts.infrastructure,
          ...optionally("minReadySeconds", ofTopology.minReadySeconds ?? ofClass.minReadySeconds),
          ...optionally("deletion", merged(ofClass.deletion, ofTopology.deletion)),
        },
      },
    },
  } as MachinePool;
}

type HealthCheck = NonNullable<DeploymentTopology["healthCheck"]>;

/** Computes the desired MachineHealthCheck; undefined if there is none or it is disabled. */
export function desiredHealthCheck(
  { cluster }: Blueprint,
  name: string,
  matchLabels: Record<string, string>,
  ofClass: Pick<HealthCheck, "checks" | "remediation"> | undefined,
  ofTopology: Pick<HealthCheck, "enabled" | "checks" | "remediation"> | undefined,
): MachineHealthCheck | undefined {
  const own = ofTopology?.checks !== undefined || ofTopology?.remediation !== undefined;
  const source = own ? ofTopology : ofClass;
  const enabled = ofTopology?.enabled ?? source?.checks !== undefined;
  if (!enabled || source?.checks === undefined) return undefined;
  const { maxInFlight: _, ...remediation } = source.remediation ?? {};
  return {
    apiVersion: MachineHealthCheck.apiVersion,
    kind: MachineHealthCheck.kind,
    metadata: {
      name,
      namespace: cluster.metadata.namespace ?? "",
      labels: { [CLUSTER_NAME_LABEL]: cluster.metadata.name ?? "", [TOPOLOGY_OWNED_LABEL]: "" },
      ownerReferences: [ownerReference(cluster)],
    },
    spec: {
      clusterName: cluster.metadata.name ?? "",
      selector: { matchLabels },
      checks: source.checks,
      ...(Object.keys(remediation).length > 0 ? { remediation } : {}),
    },
  } as MachineHealthCheck;
}
