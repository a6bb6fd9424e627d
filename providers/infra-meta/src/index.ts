export { MetaCluster } from "./kinds/meta-cluster.ts";
export { meta } from "./provider.ts";
export { addMetaIndexes, metaControllers } from "./running.ts";
