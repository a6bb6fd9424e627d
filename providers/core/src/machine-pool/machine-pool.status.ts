import { findCondition } from "@capstan/apimachinery";
import {
  type ConditionInput,
  conditionsOf,
  type MachinePool,
  mirror,
  type Referenced,
  referenceText,
  withTransitionTimes,
} from "@capstan/capi";
import type { PoolNodes } from "./pool-nodes.ts";

/** Present with any value but "false": another manager decides the number of replicas. */
const REPLICAS_MANAGED_ANNOTATION = "cluster.x-k8s.io/replicas-managed-by";

type Status = NonNullable<MachinePool["status"]>;

/** Everything that the status of a MachinePool is computed from. */
export interface MachinePoolStatusInput {
  pool: MachinePool;
  bootstrap: Referenced;
  infrastructure: Referenced;
  bootstrapReady: boolean;
  infrastructureProvisioned: boolean;
  /** Number of instances that the provider reports. */
  replicas: number | undefined;
  counts: Pick<PoolNodes, "ready" | "available" | "upToDate"> | undefined;
  references: PoolNodes["references"] | undefined;
  paused: ConditionInput;
  deleting: { reason: string; message: string } | undefined;
  nowMs: number;
}

/** Computes the complete status of a MachinePool. */
export function machinePoolStatus(input: MachinePoolStatusInput): Status {
  const { pool, counts } = input;
  const before = pool.status;
  const { generation } = pool.metadata;
  const flags = {
    ...(input.bootstrapReady ? { bootstrapDataSecretCreated: true } : {}),
    ...(input.infrastructureProvisioned ? { infrastructureProvisioned: true } : {}),
  };
  const replicas = input.replicas ?? before?.replicas;
  const ready = counts?.ready ?? before?.readyReplicas;
  const available = counts?.available ?? before?.availableReplicas;
  const upToDate = counts?.upToDate ?? before?.upToDateReplicas;
  const nodeRefs = input.references ?? before?.nodeRefs;
  return {
    conditions: withTransitionTimes(
      machinePoolConditions(input, available ?? 0),
      conditionsOf(pool),
      input.nowMs,
      generation,
    ),
    ...(Object.keys(flags).length > 0 ? { initialization: flags } : {}),
    replicas,
    readyReplicas: ready,
    availableReplicas: available,
    upToDateReplicas: upToDate,
    ...(nodeRefs === undefined || nodeRefs.length === 0 ? {} : { nodeRefs }),
    phase: phaseOf(input, ready ?? 0, nodeRefs?.length ?? 0),
    observedGeneration: generation,
  };
}

/** Returns the phase of a MachinePool, with upstream's precedence. */
export function phaseOf(input: MachinePoolStatusInput, ready: number, nodes: number): NonNullable<Status["phase"]> {
  const { pool } = input;
  if (pool.metadata.deletionTimestamp !== undefined) return "Deleting";
  const managed = pool.metadata.annotations?.[REPLICAS_MANAGED_ANNOTATION];
  const wanted = pool.spec.replicas ?? 1;
  if (input.infrastructureProvisioned) {
    if (wanted === ready) return "Running";
    if (managed !== undefined && managed !== "false") return "Scaling";
    return wanted > ready ? "ScalingUp" : "ScalingDown";
  }
  if (nodes > 0) return "Provisioned";
  return input.bootstrapReady ? "Provisioning" : "Pending";
}

function machinePoolConditions(input: MachinePoolStatusInput, available: number): ConditionInput[] {
  const { pool, deleting } = input;
  const wanted = pool.spec.replicas ?? 1;
  const have = input.replicas ?? pool.status?.replicas ?? 0;
  return [
    available >= wanted
      ? { type: "Available", status: "True", reason: "Available", message: "" }
      : {
          type: "Available",
          status: "False",
          reason: "NotAvailable",
          message: `${available} available replicas, at least ${wanted} required (spec.replicas ${wanted})`,
        },
    referenceReady("BootstrapConfigReady", input.bootstrap, input.bootstrapReady, "has no bootstrap data yet"),
    referenceReady(
      "InfrastructureReady",
      input.infrastructure,
      input.infrastructureProvisioned,
      "is not provisioned yet",
    ),
    scaling("ScalingUp", have < wanted, `Scaling up from ${have} to ${wanted} replicas`),
    scaling("ScalingDown", have > wanted, `Scaling down from ${have} to ${wanted} replicas`),
    deleting === undefined
      ? { type: "Deleting", status: "False", reason: "NotDeleting", message: "" }
      : { type: "Deleting", status: "True", ...deleting },
    input.paused,
  ];
}

function scaling(type: string, now: boolean, message: string): ConditionInput {
  return now
    ? { type, status: "True", reason: type, message }
    : { type, status: "False", reason: `Not${type}`, message: "" };
}

function referenceReady(type: string, referenced: Referenced, ready: boolean, waiting: string): ConditionInput {
  if (referenced.state === "none") return { type, status: "True", reason: "DataSecretProvided", message: "" };
  if (referenced.state === "unresolved")
    return { type, status: "Unknown", reason: "InvalidConditionReported", message: referenced.message };
  const name = referenceText(referenced.reference);
  if (referenced.state === "missing")
    return ready
      ? {
          type,
          status: "False",
          reason: "ObjectDeleted",
          message: `${name} has been deleted while the MachinePool still exists`,
        }
      : { type, status: "False", reason: "ObjectDoesNotExist", message: `${name} does not exist; create it` };
  const fallback: ConditionInput = ready
    ? { type, status: "True", reason: "Ready", message: "" }
    : { type, status: "False", reason: "NotReady", message: `${name} ${waiting}` };
  return mirror(findCondition(conditionsOf(referenced.object), "Ready"), type, fallback);
}
