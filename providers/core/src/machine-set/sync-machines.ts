import { type KubeObject, stableStringify } from "@capstan/apimachinery";
import type { ContractObject, Machine } from "@capstan/capi";
import type { ReconcileContext } from "@capstan/runtime";
import { inParallel } from "../shared/in-parallel.ts";
import {
  changeableMetadata,
  desiredMachine,
  MACHINE_FIELD_MANAGER,
  METADATA_FIELD_MANAGER,
} from "./desired-machine.ts";
import type { MachineSetScope } from "./machine-set-scope.ts";

const PARALLEL = 20;

/**
 * Applies in-place changes of a MachineSet's template to its Machines and their objects. It remembers which object versions it has checked,
 * so that a reconcile only processes what changed.
 */
export class MachineSync {
  readonly #seen = new WeakMap<KubeObject, string>();

  async run(scope: MachineSetScope, context: ReconcileContext): Promise<void> {
    const { set, machines } = scope;
    const state = stableStringify([set.spec.template, set.spec.selector, set.metadata.labels, set.metadata.uid]);
    const changed = machines.filter(
      (machine) => machine.metadata.deletionTimestamp === undefined && this.#seen.get(machine) !== state,
    );
    await inParallel(changed, PARALLEL, async (machine) => {
      // The Machine last: what it still carries of an older template tells what its objects have to lose.
      await this.#syncObjects(scope, machine, context);
      const wanted = desiredMachine(set, machine.metadata.name ?? "", machine);
      const applied = await context.client.ensure(wanted, machine, { fieldManager: MACHINE_FIELD_MANAGER });
      this.#seen.set(applied, state);
    });
  }

  async #syncObjects(scope: MachineSetScope, machine: Machine, context: ReconcileContext): Promise<void> {
    const { labels, annotations } = changeableMetadata(scope.set);
    const objects = [
      scope.infrastructure.clone(machine.spec.infrastructureRef.name),
      machine.spec.bootstrap.configRef === undefined
        ? undefined
        : scope.bootstrap?.clone(machine.spec.bootstrap.configRef.name),
    ].filter((object) => object !== undefined && object.metadata.deletionTimestamp === undefined) as ContractObject[];
    const wanted = Object.keys(labels).length > 0 || Object.keys(annotations).length > 0;
    for (const object of objects) {
      const stale =
        hasStale(
          object.metadata.labels,
          machine.metadata.labels,
          desiredMachine(scope.set, "", machine).metadata.labels,
        ) || hasStale(object.metadata.annotations, machine.metadata.annotations, annotations);
      if (!wanted && !stale) continue;
      const { namespace, name } = object.metadata;
      await context.client.ensure(
        {
          apiVersion: object.apiVersion,
          kind: object.kind,
          metadata: { name: name ?? "", ...(namespace === undefined ? {} : { namespace }), labels, annotations },
        } as ContractObject,
        object,
        { fieldManager: METADATA_FIELD_MANAGER },
      );
    }
  }
}

/** Whether object and Machine share something that the template does not have (any more). */
function hasStale(
  object: Record<string, string> | undefined,
  machine: Record<string, string> | undefined,
  wanted: Record<string, string> | undefined,
): boolean {
  return Object.entries(machine ?? {}).some(([key, value]) => wanted?.[key] === undefined && object?.[key] === value);
}
