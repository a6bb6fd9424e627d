import { type Condition, findCondition, formatTime, isReason, scaledValue } from "@capstan/apimachinery";
import { conditionsOf, Machine } from "@capstan/capi";
import type { ReconcileContext } from "@capstan/runtime";
import { isOutdated } from "../machine-deployment/revision.ts";
import type { MachineSetScope } from "./machine-set-scope.ts";
import { preflightProblems } from "./preflight.ts";

const REMEDIATE_ANNOTATION = "cluster.x-k8s.io/remediate-machine";

/** Returns the Machines that a health check marked for remediation by their owner. */
export function machinesToRemediate(machines: readonly Machine[]): Machine[] {
  return machines.filter((machine) => {
    const conditions = conditionsOf(machine);
    return (
      machine.metadata.deletionTimestamp === undefined &&
      findCondition(conditions, "HealthCheckSucceeded")?.status === "False" &&
      findCondition(conditions, "OwnerRemediated")?.status === "False"
    );
  });
}

/** Replaces unhealthy Machines by deleting them, at most as many at a time as allowed. */
export async function remediate(scope: MachineSetScope, context: ReconcileContext): Promise<void> {
  const { set, deployment, machines } = scope;
  for (const machine of machines.filter(hasRecovered)) await letGo(machine, context);
  const candidates = machinesToRemediate(machines);
  if (candidates.length === 0) return;
  if (isOutdated(set, deployment)) {
    const message = "Machine won't be remediated because it is pending removal due to rollout";
    for (const machine of candidates) await setRemediated(machine, "CannotBeRemediated", message, context);
    return;
  }
  const inFlight = machines.filter(
    (machine) =>
      machine.metadata.deletionTimestamp !== undefined &&
      findCondition(conditionsOf(machine), "OwnerRemediated") !== undefined,
  ).length;
  const allowed = maxInFlight(scope) - inFlight;
  const ordered = candidates.sort(byUrgency);
  const problems = preflightProblems(scope);
  for (const [index, machine] of ordered.entries()) {
    if (problems.length > 0) {
      await setRemediated(machine, "RemediationDeferred", problems.map((text) => `* ${text}`).join("\n"), context);
    } else if (index >= allowed) {
      const message = `Waiting because there are already too many remediations in progress (spec.remediation.maxInFlight is ${String(deployment?.spec.remediation?.maxInFlight)})`;
      await setRemediated(machine, "RemediationDeferred", message, context);
    } else {
      await setRemediated(machine, "MachineDeleting", "Machine is deleting", context);
      await context.client.delete(machine);
      context.recorder.event(
        set,
        "Normal",
        "SuccessfulDelete",
        "RemediateMachine",
        `Deleted unhealthy Machine ${machine.metadata.name}`,
      );
    }
  }
}

function hasRecovered(machine: Machine): boolean {
  const conditions = conditionsOf(machine);
  return (
    findCondition(conditions, "OwnerRemediated") !== undefined &&
    findCondition(conditions, "HealthCheckSucceeded")?.status !== "False"
  );
}

/** The condition goes when nobody holds it any more: the health check that began it, and this controller that answered. */
async function letGo(machine: Machine, context: ReconcileContext): Promise<void> {
  const { namespace, name } = machine.metadata;
  await context.client.ensure(
    {
      apiVersion: Machine.apiVersion,
      kind: Machine.kind,
      metadata: { namespace: namespace ?? "", name: name ?? "" },
      status: {},
    } as Machine,
    machine,
    { subresource: "status" },
  );
}

function maxInFlight({ deployment, set }: MachineSetScope): number {
  const value = deployment?.spec.remediation?.maxInFlight;
  const replicas = set.spec.replicas ?? 0;
  if (value === undefined) return Math.max(replicas, 1);
  try {
    return scaledValue(value, replicas, true);
  } catch (error) {
    // Neither number nor percentage: admission refuses it; what slipped through must not stop repairs.
    if (isReason(error, "BadRequest")) return Math.max(replicas, 1);
    throw error;
  }
}

/** Those a person asked for first, then the newest: they have the least to lose. */
function byUrgency(a: Machine, b: Machine): number {
  const asked = (machine: Machine): number =>
    machine.metadata.annotations?.[REMEDIATE_ANNOTATION] === undefined ? 1 : 0;
  const created = (machine: Machine): number => Date.parse(machine.metadata.creationTimestamp ?? "") || 0;
  return asked(a) - asked(b) || created(b) - created(a) || ((a.metadata.name ?? "") < (b.metadata.name ?? "") ? -1 : 1);
}

/** Only this one condition is applied; the others of the Machine belong to others. */
async function setRemediated(
  machine: Machine,
  reason: string,
  message: string,
  context: ReconcileContext,
): Promise<void> {
  const old = findCondition(conditionsOf(machine), "OwnerRemediated");
  if (old?.reason === reason && old.message === message) return;
  const condition: Condition = {
    type: "OwnerRemediated",
    status: "False",
    reason,
    message,
    lastTransitionTime: old?.status === "False" ? old.lastTransitionTime : formatTime(context.clock.now()),
  };
  const { namespace, name } = machine.metadata;
  await context.client.applyStatus({
    apiVersion: Machine.apiVersion,
    kind: Machine.kind,
    metadata: { namespace: namespace ?? "", name: name ?? "" },
    status: { conditions: [condition] },
  } as Machine);
}
