import { KubeadmConfig, KubeadmConfigTemplate, type Provider } from "@capstan/capi";
import { addBootstrapKubeadmIndexes, bootstrapKubeadmControllers } from "./kubeadm-config.controller.ts";

/** The kubeadm bootstrap provider: renders KubeadmConfigs into bootstrap data Secrets. */
export const bootstrapKubeadm: Provider = {
  name: "bootstrap-kubeadm",
  title: "kubeadm",
  kinds: [KubeadmConfig, KubeadmConfigTemplate],
  // spec.joinConfiguration.discovery.bootstrapToken.token lets a node join.
  access: { credentials: ["kubeadmconfigs"] },
  load: ({ workload, cache }) => ({
    addIndexes: addBootstrapKubeadmIndexes,
    controllers: () => bootstrapKubeadmControllers({ workload, cache }),
  }),
};
