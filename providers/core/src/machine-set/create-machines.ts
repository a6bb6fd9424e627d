import { isReason, ownerReference } from "@capstan/apimachinery";
import { type ContractReference, Machine, objectFromTemplate } from "@capstan/capi";
import type { ReconcileContext } from "@capstan/runtime";
import { inParallel } from "../shared/in-parallel.ts";
import { generateName } from "../shared/name-template.ts";
import { referenceText } from "../shared/referenced.ts";
import { clonedReference } from "./clone-template.ts";
import { desiredMachine, fixedLabels, MACHINE_FIELD_MANAGER } from "./desired-machine.ts";
import type { MachineSetScope, TemplateScope } from "./machine-set-scope.ts";

const PARALLEL = 50;
const DEFAULT_NAMING = "{{ .machineSet.name }}-{{ .random }}";

/** Returns why no Machine can be created from the templates, or undefined. */
export function templateProblem(scope: MachineSetScope): string | undefined {
  for (const part of [scope.bootstrap, scope.infrastructure]) {
    if (part === undefined) continue;
    const { template } = part;
    if (template.state === "unresolved") return template.message;
    if (template.state === "missing") return `${referenceText(template.reference)} does not exist`;
    if (template.state === "found" && template.object.spec?.["template"] === undefined)
      return `${referenceText(template.reference)} has no spec.template`;
    if (part.problem !== undefined) return part.problem;
  }
  return undefined;
}

/**
 * Creates Machines. The Machine is created before the objects that it references, which it owns: a crash in between leaves a Machine to
 * complete, never an orphan.
 */
export async function createMachines(scope: MachineSetScope, count: number, context: ReconcileContext): Promise<void> {
  const names = Array.from({ length: count }, () => newName(scope, context));
  // The first goes alone: what is wrong with it is wrong with all.
  const [first, ...others] = names;
  if (first === undefined) return;
  await createMachine(scope, first, context);
  await inParallel(others, PARALLEL, (name) => createMachine(scope, name, context));
}

function newName({ set }: MachineSetScope, context: ReconcileContext): string {
  const template = set.spec.machineNaming?.template ?? DEFAULT_NAMING;
  const values = { cluster: { name: set.spec.clusterName }, machineSet: { name: set.metadata.name ?? "" } };
  for (;;) {
    const name = generateName(template, values, context.random);
    const taken = context.cache.get(Machine, { namespace: set.metadata.namespace, name }) !== undefined;
    // Without chance in the template a taken name would be drawn forever; such templates are refused at admission.
    if (!taken) return name;
    if (!template.includes(".random"))
      throw new Error(`spec.machineNaming.template gives the name ${name} twice: it must contain {{ .random }}`);
  }
}

async function createMachine(scope: MachineSetScope, name: string, context: ReconcileContext): Promise<void> {
  const { set } = scope;
  const options = { fieldManager: MACHINE_FIELD_MANAGER };
  const machine = await context.client.ensure(desiredMachine(set, name, undefined), undefined, options);
  try {
    await completeMachine(scope, machine, context);
  } catch (error) {
    // Refused by admission or a full quota: without its parts the Machine is useless.
    await context.client.delete(machine);
    throw error;
  }
  context.recorder.event(set, "Normal", "SuccessfulCreate", "CreateMachine", `Created Machine ${name}`);
}

/** Creates the missing objects that a Machine references. */
export async function completeMachine(
  scope: MachineSetScope,
  machine: Machine,
  context: ReconcileContext,
): Promise<void> {
  await Promise.all([
    ensureClone(scope, scope.infrastructure, machine, machine.spec.infrastructureRef, context),
    scope.bootstrap === undefined
      ? undefined
      : ensureClone(scope, scope.bootstrap, machine, machine.spec.bootstrap.configRef, context),
  ]);
}

/** Reports whether objects that a Machine of this set references still have to be created. */
export function isIncomplete(scope: MachineSetScope, machine: Machine): boolean {
  if (machine.metadata.deletionTimestamp !== undefined) return false;
  const flags = machine.status?.initialization;
  const lacks = (
    part: TemplateScope | undefined,
    reference: ContractReference | undefined,
    reached: boolean | undefined,
  ): boolean =>
    part !== undefined &&
    reached !== true &&
    isOurs(part, machine, reference) &&
    part.clone(reference.name) === undefined;
  return (
    lacks(scope.infrastructure, machine.spec.infrastructureRef, flags?.infrastructureProvisioned) ||
    lacks(scope.bootstrap, machine.spec.bootstrap.configRef, flags?.bootstrapDataSecretCreated)
  );
}

/** Adopted Machines refer to objects of other names, which are not ours to make. */
function isOurs(
  part: TemplateScope,
  machine: Machine,
  reference: ContractReference | undefined,
): reference is ContractReference {
  if (reference === undefined || part.template.state !== "found") return false;
  const expected = clonedReference(part.template.reference, machine.metadata.name ?? "");
  return (
    expected.name === reference.name && expected.kind === reference.kind && expected.apiGroup === reference.apiGroup
  );
}

async function ensureClone(
  { set }: MachineSetScope,
  part: TemplateScope,
  machine: Machine,
  reference: ContractReference | undefined,
  context: ReconcileContext,
): Promise<void> {
  if (part.template.state !== "found" || !isOurs(part, machine, reference)) return;
  if (part.clone(reference.name) !== undefined) return;
  const clone = objectFromTemplate({
    template: part.template.object,
    name: reference.name,
    namespace: set.metadata.namespace ?? "",
    clusterName: set.spec.clusterName,
    owner: ownerReference(machine, { controller: true }),
    labels: fixedLabels(set),
  });
  // What describes no object is a condition of the set: see templateProblem.
  if (clone === undefined) return;
  try {
    await context.client.create(clone, { fieldManager: MACHINE_FIELD_MANAGER });
  } catch (error) {
    // The Machine controller judges whose it is.
    if (!isReason(error, "AlreadyExists")) throw error;
  }
}
