export { MetaCluster } from "./kinds/meta-cluster.ts";
export { addMetaIndexes, metaControllers } from "./provider.ts";
