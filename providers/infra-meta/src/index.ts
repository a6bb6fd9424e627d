export { MetaCluster } from "./kinds/meta-cluster.ts";
export { addMetaIndexes, meta, metaControllers } from "./provider.ts";
