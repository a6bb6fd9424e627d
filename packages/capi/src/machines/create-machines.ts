import { ownerReference } from "@capstan/apimachinery";
import { createIfAbsent, inParallel, type ReconcileContext } from "@capstan/runtime";
import type { ContractReference } from "../contract/types.ts";
import type { Machine } from "../kinds/machine.ts";
import { newMachine } from "./desired-machine.ts";
import type { MachinePart } from "./machine-part.ts";
import { bootstrapPart, fixedLabels, type MachinePlan, type NewMachine } from "./machine-plan.ts";

const PARALLEL = 50;

/** Creates Machines with the objects that they reference, and an event on the owner for each. */
export async function createMachines(
  plan: MachinePlan,
  machines: readonly NewMachine[],
  context: ReconcileContext,
): Promise<void> {
  // The first is created alone: an error of it would affect all.
  const [first, ...others] = machines;
  if (first === undefined) return;
  await createMachine(plan, first, context);
  await inParallel(others, PARALLEL, (machine) => createMachine(plan, machine, context));
}

/**
 * The Machine is created before the objects that it references, which it owns: a crash in between leaves a Machine to complete, never an
 * orphan.
 */
async function createMachine(plan: MachinePlan, wanted: NewMachine, context: ReconcileContext): Promise<void> {
  const options = { fieldManager: plan.fieldManagers.machine };
  const machine = await context.client.ensure(newMachine(plan, wanted), undefined, options);
  try {
    await completeMachine(plan, machine, context);
  } catch (error) {
    // Rejected by admission or a full quota: without its parts the Machine is useless.
    await context.client.delete(machine);
    throw error;
  }
  context.recorder.event(plan.owner, "Normal", "SuccessfulCreate", "CreateMachine", `Created Machine ${wanted.name}`);
}

/** Creates the missing objects that a Machine references. */
export async function completeMachine(plan: MachinePlan, machine: Machine, context: ReconcileContext): Promise<void> {
  const bootstrap = bootstrapPart(plan);
  await Promise.all([
    ensurePart(plan, plan.infrastructure, machine, machine.spec.infrastructureRef, context),
    bootstrap === undefined
      ? undefined
      : ensurePart(plan, bootstrap, machine, machine.spec.bootstrap.configRef, context),
  ]);
}

/** Reports whether objects that a Machine of this owner references still have to be created. */
export function isIncomplete(plan: MachinePlan, machine: Machine): boolean {
  if (machine.metadata.deletionTimestamp !== undefined) return false;
  const flags = machine.status?.initialization;
  const lacks = (
    part: MachinePart | undefined,
    reference: ContractReference | undefined,
    reached: boolean | undefined,
  ): boolean =>
    part !== undefined &&
    reached !== true &&
    isOurs(part, machine, reference) &&
    part.existing(reference.name) === undefined;
  return (
    lacks(plan.infrastructure, machine.spec.infrastructureRef, flags?.infrastructureProvisioned) ||
    lacks(bootstrapPart(plan), machine.spec.bootstrap.configRef, flags?.bootstrapDataSecretCreated)
  );
}

/** Adopted Machines refer to objects of other names, which are not created here. */
function isOurs(
  part: MachinePart,
  machine: Machine,
  reference: ContractReference | undefined,
): reference is ContractReference {
  if (reference === undefined || part.describe === undefined) return false;
  const expected = part.reference(machine.metadata.name ?? "");
  return (
    expected.name === reference.name && expected.kind === reference.kind && expected.apiGroup === reference.apiGroup
  );
}

async function ensurePart(
  plan: MachinePlan,
  part: MachinePart,
  machine: Machine,
  reference: ContractReference | undefined,
  context: ReconcileContext,
): Promise<void> {
  if (!isOurs(part, machine, reference)) return;
  if (part.existing(reference.name) !== undefined) return;
  const object = part.describe?.({
    name: reference.name,
    namespace: plan.owner.metadata.namespace ?? "",
    clusterName: plan.clusterName,
    owner: ownerReference(machine, { controller: true }),
    labels: fixedLabels(plan),
  });
  // A source without an object is reported by a condition of the owner: see planProblem.
  if (object === undefined) return;
  // The owner of an existing one is checked by the Machine controller.
  await createIfAbsent(context.client, object, { fieldManager: plan.fieldManagers.machine });
}
