export { clusterController } from "./cluster/cluster.controller.ts";
export { addCoreIndexes, type CoreDeps, coreControllers } from "./controllers.ts";
export type { NodeLabelSync } from "./machine/node-keys.ts";
export { type CoreProviderDeps, core } from "./provider.ts";
export { addSupportingIndexes, supportingControllers } from "./supporting-controllers.ts";
export { type MemberView, planPool } from "./worker-pool/plan.ts";
export { addWorkerPoolIndexes, workerPoolController } from "./worker-pool/worker-pool.controller.ts";
