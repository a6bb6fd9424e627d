export { clusterController } from "./cluster/cluster.controller.ts";
export { addCoreIndexes } from "./cluster/indexes.ts";
