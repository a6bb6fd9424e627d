import { CLONED_FROM_NAME_ANNOTATION } from "@capstan/capi";
import {
  type Cache,
  type Controller,
  controller,
  done,
  generationChanged,
  keyText,
  requestFor,
} from "@capstan/runtime";
import { Metal3Machine, Metal3MachineTemplate } from "../kinds/metal3-machine.ts";

const BY_TEMPLATE = "cloned-from";

/** Adds the cache index that the cleaning mode controller reads; call it before the cache starts. */
export function addCleaningModeIndex(cache: Cache): void {
  cache.addIndex(Metal3Machine, BY_TEMPLATE, ({ metadata }) => {
    const name = metadata.annotations?.[CLONED_FROM_NAME_ANNOTATION];
    return name === undefined ? undefined : keyText(metadata.namespace, name);
  });
}

/** Copies automatedCleaningMode, the one mutable field of a Metal3MachineTemplate, to the machines created from it. */
export function cleaningModeController(): Controller {
  return controller("metal3-machine-template")
    .for(Metal3MachineTemplate, { predicate: generationChanged })
    .watches(
      Metal3Machine,
      ({ metadata }, cache) => {
        const name = metadata.annotations?.[CLONED_FROM_NAME_ANNOTATION];
        if (name === undefined || !cache.synced(Metal3MachineTemplate)) return [];
        const template = cache.get(Metal3MachineTemplate, { namespace: metadata.namespace, name });
        return template === undefined || modeOf(template) === undefined ? [] : requestFor(template);
      },
      { predicate: { update: () => false, delete: () => false } },
    )
    .reconcile(async (request, { cache, client, signal }) => {
      const template = cache.get(Metal3MachineTemplate, request);
      const mode = template === undefined ? undefined : modeOf(template);
      if (mode === undefined) return done();
      for (const machine of cache.byIndex(Metal3Machine, BY_TEMPLATE, keyText(request.namespace, request.name)))
        if (machine.spec?.automatedCleaningMode !== mode && machine.metadata.deletionTimestamp === undefined)
          await client.patch(machine, { spec: { automatedCleaningMode: mode } }, {}, signal);
      return done();
    });
}

function modeOf({ spec }: Metal3MachineTemplate): string | undefined {
  return spec.template.spec?.automatedCleaningMode;
}
