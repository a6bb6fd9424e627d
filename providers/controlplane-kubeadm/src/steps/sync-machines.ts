import { completeMachine, isIncomplete, type Machine, type MachineSync } from "@capstan/capi";
import { writeChanges } from "@capstan/runtime";
import type { OwnedScope } from "../scope.ts";

/** Completes Machines whose creation was interrupted, and applies what changes in place. */
export async function syncMachines(scope: OwnedScope, machines: readonly Machine[], sync: MachineSync): Promise<void> {
  const { plan, context } = scope;
  for (const machine of machines) if (isIncomplete(plan, machine)) await completeMachine(plan, machine, context);
  await sync.run(plan, machines, context);
  for (const machine of machines)
    if (machine.metadata.deletionTimestamp !== undefined) await syncDeleting(scope, machine);
}

/** Timeouts that were changed to unblock a deletion apply to the Machines that are being deleted. */
async function syncDeleting({ object, context }: OwnedScope, machine: Machine): Promise<void> {
  const { deletion, taints } = object.spec.machineTemplate.spec;
  const { deletion: _deletion, taints: _taints, ...rest } = machine.spec;
  const wanted = {
    ...machine,
    spec: {
      ...rest,
      ...(deletion === undefined && machine.spec.deletion === undefined
        ? {}
        : { deletion: { ...DEFAULT_DELETION, ...deletion } }),
      ...(taints === undefined ? {} : { taints }),
    },
  };
  await writeChanges(context.client, machine, wanted);
}

/** What admission of Machines fills in. */
const DEFAULT_DELETION = { nodeDeletionTimeoutSeconds: 10 };
