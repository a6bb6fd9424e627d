import { KubeadmConfig, KubeadmConfigTemplate, type Provider } from "@capstan/capi";
import { bootstrapWhy } from "./why-rules.ts";

/** The kubeadm bootstrap provider: renders KubeadmConfigs into bootstrap data Secrets. */
export const bootstrapKubeadm: Provider = {
  name: "bootstrap-kubeadm",
  title: "kubeadm",
  kinds: [KubeadmConfig, KubeadmConfigTemplate],
  // spec.joinConfiguration.discovery.bootstrapToken.token lets a node join.
  access: { credentials: ["kubeadmconfigs"] },
  why: bootstrapWhy,
  reasons: async () => (await import("./reasons.ts")).BOOTSTRAP_REASONS,
  load: async ({ workload, calls, cache }) => {
    const running = await import("./kubeadm-config.controller.ts");
    return {
      addIndexes: running.addBootstrapKubeadmIndexes,
      controllers: () => running.bootstrapKubeadmControllers({ workload, calls, cache }),
    };
  },
};
