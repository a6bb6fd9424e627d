import type { ObjectMeta } from "@capstan/apimachinery";
import type { AdmissionProblem } from "../schema/kind.ts";
import { invalid } from "./problems.ts";

const MIN_SIZE = "cluster.x-k8s.io/cluster-api-autoscaler-node-group-min-size";
const MAX_SIZE = "cluster.x-k8s.io/cluster-api-autoscaler-node-group-max-size";

interface Annotated {
  annotations?: Record<string, string>;
}

interface ClusterWithWorkers {
  metadata: { name?: string; namespace?: string };
  spec?: {
    topology?: {
      workers?: { machineDeployments?: { class: string; name: string; replicas?: number; metadata?: Annotated }[] };
    };
  };
}

interface ClassWithWorkers {
  workers?: { machineDeployments?: { class: string; metadata?: Annotated }[] };
}

/** An autoscaler and a number of replicas in a topology would fight; the class may ask for the autoscaler too. */
export function autoscalerProblems(
  { metadata, spec }: ClusterWithWorkers,
  ofClass: ClassWithWorkers | undefined,
): AdmissionProblem[] {
  const cannot = `cannot be set for cluster "${metadata.name}" in namespace "${metadata.namespace ?? ""}" if`;
  return (spec?.topology?.workers?.machineDeployments ?? []).flatMap((deployment) => {
    if (deployment.replicas === undefined) return [];
    const source = ofClass?.workers?.machineDeployments?.find((one) => one.class === deployment.class);
    const holders = [
      ...(autoscaled(deployment.metadata) ? ["the same MachineDeploymentTopology"] : []),
      ...(autoscaled(source?.metadata)
        ? [`the source class "${deployment.class}" of this MachineDeploymentTopology`]
        : []),
    ];
    const field = `spec.topology.workers.machineDeployments[${deployment.name}].replicas`;
    return holders.map((holder) =>
      invalid(field, deployment.replicas, `${cannot} ${holder} has autoscaler annotations`),
    );
  });
}

function autoscaled(metadata: Annotated | undefined): boolean {
  const annotations = metadata?.annotations ?? {};
  return MIN_SIZE in annotations || MAX_SIZE in annotations;
}

/**
 * Replicas of an object that names none: with an autoscaler's limits the smallest for a new object, else what it had,
 * brought within the limits; otherwise 1. Limits that are no numbers count as absent.
 */
export function defaultReplicas(metadata: ObjectMeta, before: number | undefined, isNew: boolean): number {
  const min = size(metadata.annotations?.[MIN_SIZE]);
  const max = size(metadata.annotations?.[MAX_SIZE]);
  if (min === undefined || max === undefined) return 1;
  if (isNew || before === undefined) return min;
  return Math.min(Math.max(before, min), max);
}

function size(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : undefined;
}
