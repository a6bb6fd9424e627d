import {
  ALL_KINDS,
  type AnyKind,
  KubeadmConfig,
  KubeadmConfigTemplate,
  type Provider,
  type ProviderDeps,
  WorkerPool,
} from "@capstan/capi";
import { addCoreIndexes, coreControllers } from "./controllers.ts";
import type { AlsoOnNodes } from "./machine/node-keys.ts";
import { addSupportingIndexes, supportingControllers } from "./supporting-controllers.ts";
import { addWorkerPoolIndexes, workerPoolController } from "./worker-pool/worker-pool.controller.ts";

/** Dependencies and settings of the core provider. */
export interface CoreProviderDeps extends ProviderDeps {
  /** Additional labels and annotations of Machines to copy to their Nodes. */
  readonly alsoOnNodes?: AlsoOnNodes | undefined;
}

const BOOTSTRAP: readonly { kind: string }[] = [KubeadmConfig, KubeadmConfigTemplate];

/** The core provider: the controllers of Cluster API's core kinds and of WorkerPools. */
export const core: Provider<CoreProviderDeps> = {
  name: "core",
  title: "Cluster API",
  kinds: [...ALL_KINDS.filter(({ kind }) => !BOOTSTRAP.some((other) => other.kind === kind)), WorkerPool] as AnyKind[],
  access: {
    inventory: ["inclusterippools", "inclusterprefixpools", "ipaddresses", "clusterresourcesetbindings"],
  },
  load: ({ cache, workload, clock, alsoOnNodes, capacitySources }) => ({
    addIndexes: (target) => {
      addCoreIndexes(target);
      addSupportingIndexes(target);
      addWorkerPoolIndexes(target);
    },
    controllers: () => [
      ...coreControllers({ cache, workload, clock, alsoOnNodes: alsoOnNodes ?? {} }),
      ...supportingControllers({ workload, clock }),
      workerPoolController(capacitySources()),
    ],
  }),
};
