import { type Condition, findCondition, formatTime } from "@capstan/apimachinery";
import type { ReconcileContext } from "@capstan/runtime";
import { REMEDIATE_MACHINE_ANNOTATION } from "../contract/constants.ts";
import { conditionsOf } from "../contract/fields.ts";
import { Machine } from "../kinds/machine.ts";

/** Condition with which a health check requests remediation, and the owner of the Machine answers. */
const OWNER_REMEDIATED = "OwnerRemediated";

/** Returns the Machines that a health check marked for remediation by their owner. */
export function machinesToRemediate(machines: readonly Machine[]): Machine[] {
  return machines.filter((machine) => {
    const conditions = conditionsOf(machine);
    return (
      machine.metadata.deletionTimestamp === undefined &&
      findCondition(conditions, "HealthCheckSucceeded")?.status === "False" &&
      findCondition(conditions, OWNER_REMEDIATED)?.status === "False"
    );
  });
}

/** Returns the Machines that are being deleted for remediation. */
export function machinesInRemediation(machines: readonly Machine[]): Machine[] {
  return machines.filter(
    (machine) =>
      machine.metadata.deletionTimestamp !== undefined &&
      findCondition(conditionsOf(machine), OWNER_REMEDIATED) !== undefined,
  );
}

/** Reports whether a person requested the remediation of a Machine. */
export function isRemediationRequested({ metadata }: Machine): boolean {
  return metadata.annotations?.[REMEDIATE_MACHINE_ANNOTATION] !== undefined;
}

/**
 * Drops the owner's answer on Machines that have recovered. The condition disappears when it has no manager any more: neither the health
 * check that began it, nor the owner that answered.
 */
export async function releaseRecovered(machines: readonly Machine[], context: ReconcileContext): Promise<void> {
  for (const machine of machines) {
    const conditions = conditionsOf(machine);
    if (findCondition(conditions, OWNER_REMEDIATED) === undefined) continue;
    if (findCondition(conditions, "HealthCheckSucceeded")?.status === "False") continue;
    await context.client.ensure(statusOf(machine, {}), machine, { subresource: "status" });
  }
}

/** Sets the owner's answer to a request for remediation; other conditions of the Machine keep their managers. */
export async function setRemediated(
  machine: Machine,
  reason: string,
  message: string,
  context: ReconcileContext,
): Promise<void> {
  const old = findCondition(conditionsOf(machine), OWNER_REMEDIATED);
  if (old?.reason === reason && old.message === message) return;
  const condition: Condition = {
    type: OWNER_REMEDIATED,
    status: "False",
    reason,
    message,
    lastTransitionTime: old?.status === "False" ? old.lastTransitionTime : formatTime(context.clock.now()),
  };
  await context.client.applyStatus(statusOf(machine, { conditions: [condition] }));
}

function statusOf({ metadata: { namespace, name } }: Machine, status: object): Machine {
  return {
    apiVersion: Machine.apiVersion,
    kind: Machine.kind,
    metadata: { namespace: namespace ?? "", name: name ?? "" },
    status,
  } as Machine;
}
