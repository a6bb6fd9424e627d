import type { Condition } from "@capstan/apimachinery";
import { type ConditionInput, conditionsOf, progressing, withTransitionTimes } from "@capstan/capi";
import type { BackupReport } from "@capstan/controlplane";
import { conditions } from "./conditions.ts";
import type { HostedControlPlane } from "./kinds/hosted-control-plane.ts";
import type { PlacementState } from "./placement/placement.ts";
import type { PlacementType } from "./planes.ts";
import { openWork } from "./progress.ts";

/** The result of one reconcile of a HostedControlPlane. */
export type Progress =
  | { step: "paused" }
  | { step: "waiting"; reason: string; message: string }
  | { step: "hibernated"; state: PlacementState }
  | {
      step: "running";
      state: PlacementState;
      prepared: boolean;
      backup?: BackupReport;
      authorities?: ConditionInput;
      /** Nodes that the serving version does not support. */
      nodes?: { reason: string; message: string };
    }
  | { step: "deleting"; message: string };

/** Everything that the status of a HostedControlPlane is computed from. */
export interface StatusInput {
  object: HostedControlPlane;
  progress: Progress;
  paused: ConditionInput;
  placement: PlacementType;
  nowMs: number;
}

/** Computes the complete status, and when it changes without an event. */
export function controlPlaneStatus(input: StatusInput): {
  status: NonNullable<HostedControlPlane["status"]>;
  recheckMs: number | undefined;
} {
  const { object, progress } = input;
  if (progress.step === "paused" && object.status?.conditions !== undefined)
    return { status: pausedStatus(input, object.status), recheckMs: undefined };
  const serving = progress.step === "running" && progress.state.apiReady && progress.prepared;
  const initialized = serving || object.status?.initialization?.controlPlaneInitialized === true;
  const version =
    progress.step === "running" ? (progress.state.version ?? object.status?.version) : object.status?.version;
  const replicas = serving && progress.step === "running" ? (progress.state.readyReplicas ?? 1) : 0;
  const backup =
    progress.step === "running" ? (progress.backup?.status ?? object.status?.backup) : object.status?.backup;
  const computed = conditions(input, serving);
  const withTimes = (inputs: readonly ConditionInput[]): Condition[] =>
    withTransitionTimes(inputs, conditionsOf(object), input.nowMs, object.metadata.generation);
  const work = openWork(object, progress.step, withTimes(computed));
  const advance = progressing(object, work, input.nowMs);
  const status = {
    conditions: withTimes([...computed, ...(progress.step === "deleting" ? [] : [advance.condition])]),
    // Sticky: once workers could join, later problems are reported only by conditions.
    ...(initialized ? { initialization: { controlPlaneInitialized: true } } : {}),
    externalManagedControlPlane: true,
    ...(version === undefined ? {} : { version, versions: [{ version, replicas: Math.max(replicas, 1) }] }),
    replicas,
    readyReplicas: replicas,
    availableReplicas: replicas,
    upToDateReplicas: version === object.spec.version ? replicas : 0,
    backup,
    observedGeneration: object.metadata.generation,
  };
  return { status, recheckMs: advance.dueMs };
}

/** A paused control plane keeps running: its last status stays, and the Cluster still probes its API. */
function pausedStatus(
  { object, paused, nowMs }: StatusInput,
  before: NonNullable<HostedControlPlane["status"]>,
): NonNullable<HostedControlPlane["status"]> {
  const known = conditionsOf(object);
  const kept = known
    .filter(({ type }) => type !== paused.type)
    .map(({ type, status, reason, message }) => ({ type, status, reason, message }));
  return { ...before, conditions: withTransitionTimes([...kept, paused], known, nowMs, object.metadata.generation) };
}
