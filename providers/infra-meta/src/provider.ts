import type { Provider } from "@capstan/capi";
import { MetaCluster } from "./kinds/meta-cluster.ts";

/** The meta infrastructure provider: combines infrastructure clusters of several providers under one Cluster. */
export const meta: Provider<unknown> = {
  name: "meta",
  title: "Several providers",
  badge: { label: "Mixed", color: "#868e96" },
  combines: {
    clusterKind: MetaCluster.kind,
    clusterSpec: (infrastructureRefs) => ({ infrastructureRefs }),
  },
  kinds: [MetaCluster],
  reasons: async () => (await import("./reasons.ts")).META_REASONS,
  load: async () => {
    const { addMetaIndexes, metaControllers } = await import("./running.ts");
    return { addIndexes: addMetaIndexes, controllers: metaControllers };
  },
};
