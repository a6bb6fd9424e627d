import { findCondition, isReason } from "@capstan/apimachinery";
import { type ConditionInput, conditionsOf, Machine, withTransitionTimes } from "@capstan/capi";
import type { ReconcileContext } from "@capstan/runtime";

/** Field manager of OwnerRemediated and ExternallyRemediated: separate, so that the next result of the check keeps them. */
const REMEDIATION_MANAGER = "capstan-machine-health-check-remediation";

/** Writes the result of a check and, if given, the remediation request to a Machine; does nothing if both are already set. */
export async function writeMachineConditions(
  machine: Machine,
  health: ConditionInput,
  repair: ConditionInput | undefined,
  context: ReconcileContext,
): Promise<void> {
  await write(machine, health, undefined, context);
  if (repair !== undefined) await write(machine, repair, REMEDIATION_MANAGER, context);
}

async function write(
  machine: Machine,
  condition: ConditionInput,
  fieldManager: string | undefined,
  context: ReconcileContext,
): Promise<void> {
  const { namespace, name, uid } = machine.metadata;
  const before = findCondition(conditionsOf(machine), condition.type);
  const same =
    before?.status === condition.status && before.reason === condition.reason && before.message === condition.message;
  if (same) return;
  const conditions = withTransitionTimes([condition], conditionsOf(machine), context.clock.now(), undefined);
  const desired = {
    apiVersion: Machine.apiVersion,
    kind: Machine.kind,
    // A Machine of the same name that came after this one is not meant.
    metadata: { namespace, name, uid },
    status: { conditions },
  } as unknown as Machine;
  const options = { subresource: "status", fieldManager };
  try {
    await context.client.apply(desired, options);
  } catch (error) {
    if (!isReason(error, "NotFound", "Conflict")) throw error;
  }
}
