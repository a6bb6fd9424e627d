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

/** An autoscaler conflicts with a number of replicas in a topology; the class may configure the autoscaler too. */
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

interface Scaled {
  metadata: ObjectMeta;
  spec: { replicas?: number };
}

/**
 * Replicas of an object that names none: with both limits of an autoscaler the smallest for a new object, else what it had, brought
 * within the limits; otherwise 1. Limits that are no numbers leave it open, and `replicasProblems` refuses the object.
 */
export function fillReplicas(object: Scaled, old: Scaled | undefined): void {
  const replicas = replicasFor(object.metadata.annotations ?? {}, old?.spec.replicas);
  if (replicas !== undefined) object.spec.replicas ??= replicas;
}

function replicasFor(annotations: Record<string, string>, before: number | undefined): number | undefined {
  const { [MIN_SIZE]: minText, [MAX_SIZE]: maxText } = annotations;
  if (minText === undefined || maxText === undefined) return 1;
  const min = size(minText);
  const max = size(maxText);
  if (min === undefined || max === undefined) return undefined;
  if (before === undefined || before < min) return min;
  return before > max ? max : before;
}

/** Returns unparsable limits if the number of replicas depends on them. */
export function replicasProblems({ metadata, spec }: Scaled): AdmissionProblem[] {
  const { [MIN_SIZE]: min, [MAX_SIZE]: max } = metadata.annotations ?? {};
  if (spec.replicas !== undefined || min === undefined || max === undefined) return [];
  const detail = "must be an integer, because spec.replicas is not set and is derived from it";
  return Object.entries({ [MIN_SIZE]: min, [MAX_SIZE]: max }).flatMap(([name, text]) =>
    size(text) === undefined ? [invalid(`metadata.annotations.${name}`, text, detail)] : [],
  );
}

/** A number of 32 bits as Go reads it. */
function size(text: string): number | undefined {
  const value = /^[+-]?\d+$/.test(text) ? Number(text) : Number.NaN;
  return value >= -(2 ** 31) && value < 2 ** 31 ? value : undefined;
}
