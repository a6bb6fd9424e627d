import type { ProviderDescription } from "@capstan/capi";
import { OLDER_KINDS } from "./older-kinds.ts";
import { QUICK_START } from "./templates/quick-start.ts";
import { kubernetesWhy } from "./why.ts";

/** What people see of machines that are pods. */
export const kubernetesDescription: ProviderDescription = {
  name: "kubernetes",
  title: "Pods",
  badge: { label: "Pods", color: "#1c7ed6" },
  workers: {
    summary: "pods of another Kubernetes cluster, the outer one",
    clusterKind: "KubernetesCluster",
    templateKind: "KubernetesMachineTemplate",
    settings: {
      cpu: { summary: "processors of a machine, such as 2 or 500m" },
      memory: { summary: "memory of a machine, such as 4Gi" },
      image: { summary: "image of the node; kindest/node of the version by default" },
    },
    templates: { flavor: "pods-hosted" },
    clusterSpec: {},
    machineSpec: ({ settings: { cpu, memory, image } }) => {
      const limits = { ...(cpu === undefined ? {} : { cpu }), ...(memory === undefined ? {} : { memory }) };
      return {
        ...(image === undefined ? {} : { image }),
        ...(Object.keys(limits).length === 0 ? {} : { resources: { requests: limits, limits } }),
      };
    },
    warning: ({ memory }) =>
      memory === undefined
        ? "without memory=… the inner scheduler sees the memory of the whole outer node in every machine"
        : undefined,
  },
  olderKinds: OLDER_KINDS,
  quickStart: { prefix: "pods", flavors: QUICK_START },
  why: kubernetesWhy,
  reasons: async () => (await import("./reasons.ts")).KUBERNETES_REASONS,
};
