export { clusterController } from "./cluster/cluster.controller.ts";
export { addCoreIndexes } from "./cluster/indexes.ts";
export { addSupportingIndexes, supportingControllers } from "./supporting-controllers.ts";
export { addWorkerPoolIndexes, workerPoolController } from "./worker-pool/worker-pool.controller.ts";
