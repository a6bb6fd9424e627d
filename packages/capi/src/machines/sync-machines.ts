import { type KubeObject, stableStringify } from "@capstan/apimachinery";
import { inParallel, type ReconcileContext } from "@capstan/runtime";
import type { ContractObject } from "../contract/builtin-kinds.ts";
import type { Machine } from "../kinds/machine.ts";
import { syncedMachine } from "./desired-machine.ts";
import { bootstrapPart, changeableMetadata, type MachinePlan } from "./machine-plan.ts";

const PARALLEL = 20;

/**
 * Applies in-place changes of a plan to its Machines and the objects that they reference. It remembers which object versions it has
 * checked, so that a reconcile only processes what changed.
 */
export class MachineSync {
  readonly #seen = new WeakMap<KubeObject, string>();

  async run(plan: MachinePlan, machines: readonly Machine[], context: ReconcileContext): Promise<void> {
    const { owner, labels, fixedLabels, annotations, settings, appliesFailureDomain } = plan;
    const state = stableStringify([
      owner.metadata.uid,
      labels,
      [...fixedLabels].sort(),
      annotations,
      settings,
      appliesFailureDomain,
    ]);
    const changed = machines.filter(
      (machine) => machine.metadata.deletionTimestamp === undefined && this.#seen.get(machine) !== state,
    );
    await inParallel(changed, PARALLEL, async (machine) => {
      // The Machine last: its labels of an older template say what to remove from its objects.
      await syncParts(plan, machine, context);
      const options = { fieldManager: plan.fieldManagers.machine };
      const applied = await context.client.ensure(syncedMachine(plan, machine), machine, options);
      this.#seen.set(applied, state);
    });
  }
}

async function syncParts(plan: MachinePlan, machine: Machine, context: ReconcileContext): Promise<void> {
  const { labels, annotations } = changeableMetadata(plan);
  const { configRef } = machine.spec.bootstrap;
  const objects = [
    plan.infrastructure.existing(machine.spec.infrastructureRef.name),
    configRef === undefined ? undefined : bootstrapPart(plan)?.existing(configRef.name),
  ].filter((object) => object !== undefined && object.metadata.deletionTimestamp === undefined) as ContractObject[];
  const wanted = Object.keys(labels).length > 0 || Object.keys(annotations).length > 0;
  for (const object of objects) {
    const stale =
      hasStale(object.metadata.labels, machine.metadata.labels, plan.labels) ||
      hasStale(object.metadata.annotations, machine.metadata.annotations, annotations);
    if (!wanted && !stale) continue;
    const { namespace, name } = object.metadata;
    await context.client.ensure(
      {
        apiVersion: object.apiVersion,
        kind: object.kind,
        metadata: { name: name ?? "", namespace, labels, annotations },
      } as ContractObject,
      object,
      { fieldManager: plan.fieldManagers.metadata },
    );
  }
}

/** Reports whether object and Machine share something that the plan does not have (any more). */
function hasStale(
  object: Record<string, string> | undefined,
  machine: Record<string, string> | undefined,
  wanted: Readonly<Record<string, string>>,
): boolean {
  return Object.entries(machine ?? {}).some(([key, value]) => wanted[key] === undefined && object?.[key] === value);
}
