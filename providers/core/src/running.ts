import type { LoadedProvider } from "@capstan/capi";
import { addCoreIndexes, coreControllers } from "./controllers.ts";
import type { CoreProviderDeps } from "./provider.ts";
import { addSupportingIndexes, supportingControllers } from "./supporting-controllers.ts";
import { addWorkerPoolIndexes, workerPoolController } from "./worker-pool/worker-pool.controller.ts";

/** Creates the provider's running part. */
export function loadCore({ cache, workload, calls, nodeLabelSync, capacitySources }: CoreProviderDeps): LoadedProvider {
  return {
    addIndexes: (target) => {
      addCoreIndexes(target);
      addSupportingIndexes(target);
      addWorkerPoolIndexes(target);
    },
    controllers: () => [
      ...coreControllers({ cache, workload, calls, nodeLabelSync: nodeLabelSync ?? {} }),
      ...supportingControllers({ workload, calls }),
      workerPoolController(capacitySources()),
    ],
  };
}
